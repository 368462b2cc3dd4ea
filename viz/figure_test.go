package viz_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// figures draws every figure of the package.
func figures(t *testing.T, theme *viz.Theme, runs []*results.Run, traces []viz.Trace) map[string]*viz.Figure {
	t.Helper()
	out := map[string]*viz.Figure{}
	add := func(name string, fig *viz.Figure, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = fig
	}
	fig, err := viz.Timeline(theme, runs[0])
	add("Timeline", fig, err)
	fig, err = viz.Accuracy(theme, runs...)
	add("Accuracy", fig, err)
	fig, err = viz.TaskCurves(theme, withTasks(runs[0]))
	add("TaskCurves", fig, err)
	fig, err = viz.TaskAccuracy(theme, runs...)
	add("TaskAccuracy", fig, err)
	fig, err = viz.Certificates(theme, invented.Records())
	add("Certificates", fig, err)
	fig, err = viz.ToyDescent(theme, traces...)
	add("ToyDescent", fig, err)
	fig, err = viz.ToyPaths(theme, traces...)
	add("ToyPaths", fig, err)
	fig, err = viz.ToyLosses(theme, traces...)
	add("ToyLosses", fig, err)
	return out
}

// withTasks gives the curve the tasks' accuracies where it has none.
func withTasks(run *results.Run) *results.Run {
	out := *run
	out.Curve = slices.Clone(run.Curve)
	for i, p := range out.Curve {
		for j := len(p.Acc); j < len(run.Tasks); j++ {
			out.Curve[i].Acc = append(slices.Clone(out.Curve[i].Acc), &p.Mean)
		}
	}
	return &out
}

// measured draws the figures of measured runs, records and networks.
func measured(t *testing.T, theme *viz.Theme) map[string]*viz.Figure {
	t.Helper()
	runs, records, tiny := loadRuns("methods.jsonl.gz"), loadRecords(), loadStudy()
	ranking, err := viz.RankRuns(0.05, runs...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*viz.Figure{}
	for name, draw := range map[string]func() (*viz.Figure, error){
		"AccuracyMatrix":     func() (*viz.Figure, error) { return viz.AccuracyMatrix(theme, only(runs, "task")...) },
		"LearningProcess":    func() (*viz.Figure, error) { return viz.LearningProcess(theme, runs...) },
		"MemorySize":         func() (*viz.Figure, error) { return viz.MemorySize(theme, loadRuns("memory.jsonl.gz")...) },
		"CriticalDifference": func() (*viz.Figure, error) { return viz.CriticalDifference(theme, ranking) },
		"StreamWeights":      func() (*viz.Figure, error) { return viz.StreamWeights(theme, records) },
		"Slacks":             func() (*viz.Figure, error) { return viz.Slacks(theme, records) },
		"Conflicts":          func() (*viz.Figure, error) { return viz.Conflicts(theme, records) },
		"MeasuredRatio":      func() (*viz.Figure, error) { return viz.MeasuredRatio(theme, records, 0, 5) },
		"Ratio":              func() (*viz.Figure, error) { return viz.Ratio(theme, []float64{1, 0.5, 0.5, 2}) },
		"StepGeometry":       func() (*viz.Figure, error) { return viz.StepGeometry(theme, records[len(records)/2]) },
		"Features": func() (*viz.Figure, error) {
			return viz.Features(theme, map[int]string{0: "zero"}, tiny.Maps[:2]...)
		},
		"EditedImages": func() (*viz.Figure, error) { return viz.EditedImages(theme, tiny.Images...) },
	} {
		fig, err := draw()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = fig
	}
	return out
}

func TestFormatsAndThemes(t *testing.T) {
	runs, traces := invented.Runs(1), descents()
	for _, theme := range []*viz.Theme{viz.Light, viz.Dark} {
		all := figures(t, theme, runs, traces)
		maps.Copy(all, measured(t, theme))
		for name, fig := range all {
			checkPNG(t, name, fig, theme.Background)
			checkSVG(t, name, fig)
			checkSVG(t, name, fig.Narrow())
			if fig.Alt == "" || fig.Name == "" {
				t.Errorf("%s has no description or no name", name)
			}
			if theme == viz.Dark {
				continue // only its colours are others
			}
			var buf bytes.Buffer
			if err := fig.Encode(&buf, "pdf"); err != nil || !bytes.HasPrefix(buf.Bytes(), []byte("%PDF-")) {
				t.Errorf("%s: pdf: %v, starts with %q", name, err, buf.Bytes()[:min(8, buf.Len())])
			}
			// The text is shapes: no font, which alone would take 200 kB, and draws σ and λ as other letters.
			if buf.Len() > 160_000 || bytes.Contains(buf.Bytes(), []byte("/FontFile")) {
				t.Errorf("%s: the pdf has %d bytes, or holds a font", name, buf.Len())
			}
			checkCSV(t, name, fig)
		}
	}
}

// checkPNG: two pixels a point, the theme's background in the corners, and something drawn.
func checkPNG(t *testing.T, name string, fig *viz.Figure, background color.NRGBA) {
	t.Helper()
	var buf bytes.Buffer
	if err := fig.Encode(&buf, "png"); err != nil {
		t.Fatalf("%s: png: %v", name, err)
	}
	img, err := png.Decode(&buf)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b := img.Bounds()
	if want := int(2*fig.Width + 0.5); b.Dx() != want {
		t.Errorf("%s is %d pixels wide, want %d", name, b.Dx(), want)
	}
	for _, y := range []int{b.Min.Y, b.Max.Y - 1} {
		if got := color.NRGBAModel.Convert(img.At(b.Min.X, y)); got != background {
			t.Errorf("%s: corner %v, want the background %v", name, got, background)
		}
	}
	const stride = 3
	drawn := 0
	for y := b.Min.Y; y < b.Max.Y; y += stride {
		for x := b.Min.X; x < b.Max.X; x += stride {
			if color.NRGBAModel.Convert(img.At(x, y)) != background {
				drawn++
			}
		}
	}
	if all := b.Dx() * b.Dy() / stride / stride; drawn < all/200 {
		t.Errorf("%s: only %d of %d pixels drawn", name, drawn, all)
	}
}

// checkSVG: well-formed, with fonts that a reader's machine can replace by one of equal width.
func checkSVG(t *testing.T, name string, fig *viz.Figure) {
	t.Helper()
	var buf bytes.Buffer
	if err := fig.Encode(&buf, "svg"); err != nil {
		t.Fatalf("%s: svg: %v", name, err)
	}
	text := buf.String()
	if strings.Contains(text, "font-family:Liberation Sans;") || !strings.Contains(text, "Arial") {
		t.Errorf("%s: svg has no fallback fonts", name)
	}
	// At 96 pixels an inch a point is 4/3 of a pixel: 9 points are 12 pixels.
	for _, m := range regexp.MustCompile(`font-size:([0-9.]+)px`).FindAllStringSubmatch(text, -1) {
		if size, err := strconv.ParseFloat(m[1], 64); err != nil || size < 9 {
			t.Errorf("%s: text of %s points", name, m[1])
		}
	}
	if !strings.Contains(text, "font-size:") {
		t.Errorf("%s: no text was found to measure", name)
	}
	dec := xml.NewDecoder(&buf)
	for {
		if _, err := dec.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: svg: %v", name, err)
		}
	}
}

// checkCSV: rows of as many cells as the head, something in each column, and numbers to read.
func checkCSV(t *testing.T, name string, fig *viz.Figure) {
	t.Helper()
	var buf bytes.Buffer
	if err := fig.Encode(&buf, "csv"); err != nil {
		t.Fatalf("%s: csv: %v", name, err)
	}
	rows, err := csv.NewReader(&buf).ReadAll() // refuses rows of other lengths
	if err != nil || len(rows) < 3 {
		t.Fatalf("%s: %d rows of data, %v", name, len(rows), err)
	}
	for j, head := range rows[0] {
		filled, numbers := 0, 0
		for _, row := range rows[1:] {
			if row[j] != "" {
				filled++
			}
			if _, err := strconv.ParseFloat(row[j], 64); err == nil {
				numbers++
			}
		}
		if head == "" || filled == 0 {
			t.Errorf("%s: column %d, %q, is empty", name, j+1, head)
		}
		if j == len(rows[0])-1 && numbers == 0 {
			t.Errorf("%s: the last column, %q, holds no numbers", name, head)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	for _, format := range []string{"png", "svg"} {
		a, b := figures(t, viz.Light, invented.Runs(2), descents()), figures(t, viz.Light, invented.Runs(2), descents())
		if format == "svg" {
			maps.Copy(a, measured(t, viz.Light))
			maps.Copy(b, measured(t, viz.Light))
		}
		for name := range a {
			var x, y bytes.Buffer
			if err := a[name].Encode(&x, format); err != nil {
				t.Fatal(err)
			}
			if err := b[name].Encode(&y, format); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(x.Bytes(), y.Bytes()) {
				t.Errorf("%s: two drawings differ as %s", name, format)
			}
		}
	}
}

func TestSave(t *testing.T) {
	fig, err := viz.Timeline(viz.Light, invented.Runs(1)[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "figure.SVG")
	if err := fig.Save(path); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("<svg")) {
		t.Errorf("saved file: %v", err)
	}
	err = fig.Save(filepath.Join(dir, "figure.gif"))
	if err == nil || !strings.Contains(err.Error(), "png, svg, pdf and csv") {
		t.Errorf("unknown format: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "figure.gif")); !os.IsNotExist(err) {
		t.Errorf("a failed save left a file: %v", err)
	}
	if err := new(viz.Figure).Encode(io.Discard, "png"); err == nil {
		t.Error("an empty figure was encoded")
	}
}

// A grid of the paper's size, and the smallest run, must be drawn too.
func TestExtremeSizes(t *testing.T) {
	var many []*results.Run
	for _, m := range []string{"avggrad", "er", "mgda", "emgd-gmc", "emgd-gmc+me", "emgd-gs", "sum", "agem", "gem", "dwa",
		"gradnorm", "pcgrad", "rlw", "graddrop", "maxdo", "mega1", "unheard-of"} {
		r := invented.Run(m, strings.ToUpper(m), 1)
		r.Curve = r.Curve[:1]
		for len(r.Tasks) < 20 {
			task := r.Tasks[len(r.Tasks)-1]
			task.ID++
			task.Start += 60
			task.End += 60
			r.Tasks = append(r.Tasks, task)
			r.Curve = append(r.Curve, results.Point{Step: task.End, Mean: task.AccFinal})
		}
		r.Steps = r.Tasks[19].End + 1
		many = append(many, r)
	}
	one := &results.Run{ID: "one", Method: "mgda", MethodTitle: "MGDA", Dataset: "glyphs", Increment: "class", Steps: 1,
		Tasks: []results.Task{{ID: 1, AccEnd: 1, AccFinal: 1}},
		Curve: []results.Point{{Step: 0, Mean: 1}}}
	short := []viz.Trace{{Method: "mgda", X: []float64{3, 3}, Y: []float64{3, 3}, F1: []float64{1, 1}, F2: []float64{2, 2}}}
	for _, c := range []struct {
		runs   []*results.Run
		traces []viz.Trace
	}{{many, descents()}, {[]*results.Run{one}, short}} {
		for name, fig := range figures(t, viz.Light, c.runs, c.traces) {
			for _, f := range []*viz.Figure{fig, fig.Narrow()} {
				if err := f.Encode(io.Discard, "png"); err != nil {
					t.Errorf("%s of %d runs: %v", name, len(c.runs), err)
				}
			}
		}
	}
}

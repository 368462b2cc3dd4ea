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

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
)

// drawn calls functions that draw, by the figures' names.
func drawn(t *testing.T, all map[string]func() (*viz.Figure, error)) map[string]*viz.Figure {
	t.Helper()
	out := map[string]*viz.Figure{}
	for name, draw := range all {
		fig, err := draw()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = fig
	}
	return out
}

// figures draws those that take invented results.
func figures(t *testing.T, runs []*results.Run, traces []*toy.Trace) map[string]*viz.Figure {
	t.Helper()
	return drawn(t, map[string]func() (*viz.Figure, error){
		"Timeline":     func() (*viz.Figure, error) { return viz.Timeline(runs[0]) },
		"Accuracy":     func() (*viz.Figure, error) { return viz.Accuracy(runs...) },
		"TaskCurves":   func() (*viz.Figure, error) { return viz.TaskCurves(withTasks(runs[0])) },
		"TaskAccuracy": func() (*viz.Figure, error) { return viz.TaskAccuracy(runs...) },
		"Certificates": func() (*viz.Figure, error) { return viz.Certificates(invented.Records()) },
		"ToyDescent":   func() (*viz.Figure, error) { return viz.ToyDescent(traces...) },
		"ToyPaths":     func() (*viz.Figure, error) { return viz.ToyPaths(traces...) },
		"ToyLosses":    func() (*viz.Figure, error) { return viz.ToyLosses(traces...) },
	})
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
func measured(t *testing.T) map[string]*viz.Figure {
	t.Helper()
	runs, records, tiny := loadRuns("methods.jsonl.gz"), loadRecords(), loadStudy()
	return drawn(t, map[string]func() (*viz.Figure, error){
		"AccuracyMatrix":  func() (*viz.Figure, error) { return viz.AccuracyMatrix(only(runs, "task")...) },
		"LearningProcess": func() (*viz.Figure, error) { return viz.LearningProcess(runs...) },
		"MemorySize":      func() (*viz.Figure, error) { return viz.MemorySize(loadRuns("memory.jsonl.gz")...) },
		"StreamWeights":   func() (*viz.Figure, error) { return viz.StreamWeights(records) },
		"Conflicts":       func() (*viz.Figure, error) { return viz.Conflicts(records) },
		"Ratio":           func() (*viz.Figure, error) { return viz.Ratio([]float64{1, 0.5, 0.5, 2}) },
		"Features":        func() (*viz.Figure, error) { return viz.Features(map[int]string{0: "zero"}, tiny.Maps[:2]...) },
		"EditedImages":    func() (*viz.Figure, error) { return viz.EditedImages(tiny.Images...) },
	})
}

func encoded(t *testing.T, name string, fig *viz.Figure, format string) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := fig.Encode(&buf, format); err != nil {
		t.Fatalf("%s as %s: %v", name, format, err)
	}
	return buf.Bytes()
}

// TestFormats encodes every figure; the golden pictures show what they look like.
func TestFormats(t *testing.T) {
	all := figures(t, invented.Runs(1), invented.Descents())
	maps.Copy(all, measured(t))
	for name, fig := range all {
		checkSVG(t, name, encoded(t, name, fig, "svg"))
		if fig.Alt == "" || fig.Name == "" {
			t.Errorf("%s has no description or no name", name)
		}
		// The text is shapes: no font, which alone would take 200 kB, and draws σ and λ as other
		// letters.
		if pdf := encoded(t, name, fig, "pdf"); !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) > 160_000 ||
			bytes.Contains(pdf, []byte("/FontFile")) {
			t.Errorf("%s: the pdf has %d bytes, or holds a font", name, len(pdf))
		}
		checkCSV(t, name, encoded(t, name, fig, "csv"))
	}
}

// checkSVG: well-formed, with fonts that a reader's machine can replace by one of equal width, and
// at 96 pixels an inch, where a point is 4/3 of a pixel, no text below 12 pixels.
func checkSVG(t *testing.T, name string, svg []byte) {
	t.Helper()
	if !bytes.Contains(svg, []byte("Arial")) {
		t.Errorf("%s: svg has no fallback fonts", name)
	}
	for _, m := range regexp.MustCompile(`font-size="([0-9.]+)"`).FindAllSubmatch(svg, -1) {
		if size, err := strconv.ParseFloat(string(m[1]), 64); err != nil || size < 9 {
			t.Errorf("%s: text of %s points", name, m[1])
		}
	}
	checkXML(t, name, svg)
}

// checkXML: it is well-formed.
func checkXML(t *testing.T, name string, text []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := dec.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// checkCSV: rows of as many cells as the head, something in each column, and numbers in the last.
func checkCSV(t *testing.T, name string, text []byte) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll() // refuses rows of other lengths
	if err != nil || len(rows) < 3 {
		t.Fatalf("%s: %d rows of data, %v", name, len(rows), expect.Text(err))
	}
	for j, head := range rows[0] {
		filled := func(row []string) bool { return row[j] != "" }
		number := func(row []string) bool { _, err := strconv.ParseFloat(row[j], 64); return err == nil }
		switch {
		case head == "":
			t.Errorf("%s: head is empty", name)
		case !slices.ContainsFunc(rows[1:], filled):
			t.Errorf("%s: slices.ContainsFunc(rows[1:], filled) is false", name)
		case !strings.HasPrefix(head, "rehearsal") && j == len(rows[0])-1 && !slices.ContainsFunc(rows[1:], number):
			t.Errorf("%s: column %d, %q, is empty, or the last without numbers", name, j+1, head)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	draw := func() map[string]*viz.Figure {
		all := figures(t, invented.Runs(2), invented.Descents())
		maps.Copy(all, measured(t))
		return all
	}
	a, b := draw(), draw()
	for name := range a {
		if !bytes.Equal(encoded(t, name, a[name], "svg"), encoded(t, name, b[name], "svg")) {
			t.Errorf("%s: two drawings differ", name)
		}
	}
	// A picture has two pixels a point, and white corners.
	f := figures(t, invented.Runs(1), invented.Descents())["Accuracy"]
	img, err := png.Decode(bytes.NewReader(encoded(t, "Accuracy", f, "png")))
	if err != nil {
		t.Fatal(err)
	}
	if got := img.Bounds().Dx(); got != 1200 {
		t.Errorf("a picture of %d pixels for 600 points; want 1200", got)
	}
	corner := color.NRGBAModel.Convert(img.At(0, 0))
	if want := color.NRGBAModel.Convert(color.White); corner != want {
		t.Errorf("the corner is %v; want %v", corner, want)
	}
}

func TestSave(t *testing.T) {
	fig, err := viz.Timeline(invented.Runs(1)[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "figure.SVG")
	if err := fig.Save(path); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("<svg")) {
		t.Errorf("saved file: %v", expect.Text(err))
	}
	if fig.Save(filepath.Join(dir, "figure.gif")) == nil {
		t.Error("an unknown format was saved")
	}
	if _, err := os.Stat(filepath.Join(dir, "figure.gif")); !os.IsNotExist(err) {
		t.Errorf("a failed save left a file: %v", err)
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
	short := []*toy.Trace{{Method: "mgda", Steps: make([]toy.Step, 1)}}
	for _, c := range []struct {
		runs   []*results.Run
		traces []*toy.Trace
	}{{many, invented.Descents()}, {[]*results.Run{one}, short}} {
		for name, fig := range figures(t, c.runs, c.traces) {
			if err := fig.Encode(io.Discard, "svg"); err != nil {
				t.Errorf("%s of %d runs: %v", name, len(c.runs), err)
			}
		}
	}
}

// TestTimelineOfSums: the timeline has a memory only where a method keeps samples.
func TestTimelineOfSums(t *testing.T) {
	for _, c := range []struct {
		name         string
		stored, sums int
		memory       bool
	}{
		{"samples", 800, 0, true},
		{"sums", 0, 800, false},
		{"sums and samples", 800, 800, true},
		{"unknown", 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := invented.Runs(1)[0]
			run.Measured.StoredBytes, run.Measured.StatisticsBytes = c.stored, c.sums
			f, err := viz.Timeline(run)
			if err != nil {
				t.Fatal(err)
			}
			memory := slices.ContainsFunc(f.Data.Rows, func(row []any) bool { return slices.Contains(row, any("memory")) })
			if memory != c.memory {
				t.Errorf("rows %v: memory is %t; want %t", f.Data.Rows, memory, c.memory)
			}
		})
	}
}

package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/cmpimg"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/report"
)

// input is an invented demonstration: four methods, each with so many seeds.
func input(seeds int) report.DemoInput {
	in := report.DemoInput{
		Runs:    invented.Runs(seeds),
		Records: map[string][]results.Record{"emgd-gmc": invented.Records()},
		Origin:  report.Origin{Command: "pcl demo --out demo", Version: "v0.1.0"},
	}
	for _, t := range invented.Descents() {
		in.Toy = append(in.Toy, viz.NewTrace(t.Trace, t.Title))
	}
	return in
}

func ExampleDemo() {
	var page bytes.Buffer
	if err := report.Demo(&page, input(1)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(page.String(), "What each method reached"))
	// Output: true
}

func ExampleCover() {
	err := atomicfile.Write("testdata/cover.png", func(w io.Writer) error {
		return report.Cover(w, input(1))
	})
	if err != nil {
		log.Fatal(err)
	}
}

func TestCover(t *testing.T) {
	cmpimg.CheckPlotApprox(ExampleCover, t, 0.1, "cover.png")
	if !t.Failed() {
		os.Remove("testdata/cover.png")
	}
	for _, in := range []report.DemoInput{input(1), {Runs: invented.Runs(1)}} {
		var buf bytes.Buffer
		must.Do(t, report.Cover(&buf, in))
		c, format, err := image.DecodeConfig(&buf)
		if err != nil || format != "png" || c.Width != 1200 || c.Height != 520 {
			t.Errorf("cover: %d×%d %s, %v; want a PNG of 1200×520", c.Width, c.Height, format, err)
		}
	}
}

func page(t *testing.T, in report.DemoInput) string {
	t.Helper()
	var buf bytes.Buffer
	must.Do(t, report.Demo(&buf, in))
	return buf.String()
}

func TestDemo(t *testing.T) {
	html := page(t, input(3))
	// Values as invented: the means of three seeds with their deviation, and the exact counts.
	for _, want := range []string{
		"<title>Parallel continual learning</title>",
		"4 methods learn 5 tasks of glyphs, 62 classes in all (task-incremental)",
		"Each of 410 steps",
		"±\u00a0", ">8.4<", "tau = 5", "pcl demo --out demo", "v0.1.0", "xla-cpu", "tau=5",
		"memory_per_class", "9f86d081884c7d65", ">410<", "100 %",
		"It rises, by up to 0.0090, with AvgGrad, Sum; it does not with MGDA, EMGD (GS), EMGD (GMC).",
		"light-dark(", "@media print", `name="viewport"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// Five known ends, all met by the invented descents, which follow the closed forms.
	if n := strings.Count(html, "✓"); n != 5 {
		t.Errorf("%d methods meet the known toy numbers, want 5", n)
	}
	if strings.Contains(html, "ZgotmplZ") {
		t.Error("the template refused a value")
	}
	if n := strings.Count(html, `<figure class="pcl-figure"`); n != 6 || strings.Count(html, ` role="img" aria-label="`) < 6 || strings.Contains(html, `aria-label=""`) {
		t.Errorf("%d figures, want six, each with a description", n)
	}
}

// Nothing on the page may be loaded from elsewhere.
func TestDemoIsSelfContained(t *testing.T) {
	html := page(t, input(1))
	markup, _, found := strings.Cut(html, "<script>") // its policy lets the script load nothing
	if !found || !strings.Contains(markup, "default-src 'none'") {
		t.Error("the page has no script, or no policy against loading")
	}
	for _, m := range regexp.MustCompile(`(?:\b(?:srcset|src|href)=|url\()["']?([^"'\s>]{1,20})`).FindAllStringSubmatch(markup, -1) {
		if !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %q", m[1])
		}
	}
	if strings.Contains(html, "http://") || strings.Contains(html, "https://") || strings.Contains(html, "@import") {
		t.Error("the page names an address")
	}
}

func TestDemoEscapes(t *testing.T) {
	in := input(1)
	in.Title = "<script>alert(1)</script>"
	in.Command = "pcl run > a && b"
	in.Runs[0].MethodTitle = `"><b>x`
	html := page(t, in)
	if strings.Contains(html, in.Title) || strings.Contains(html, in.Runs[0].MethodTitle) {
		t.Error("text reached the page as markup")
	}
	if !strings.Contains(html, "pcl run &gt; a &amp;&amp; b") {
		t.Error("the command is not shown")
	}
}

func TestDemoLeavesOutWhatIsMissing(t *testing.T) {
	in := report.DemoInput{Runs: invented.Runs(1)[:1], Records: map[string][]results.Record{"er": {{Step: 1, IDs: []int{1}}}}}
	in.Runs[0].Curve = nil
	html := page(t, in)
	for _, absent := range []string{"Proof of each step", "two variables", "Accuracy over time", "standard deviation", "ends highest"} {
		if strings.Contains(html, absent) {
			t.Errorf("the page has a section %q without data for it", absent)
		}
	}
	for _, present := range []string{"one method learns", "Accuracy by task", "How this was made"} {
		if !strings.Contains(html, present) {
			t.Errorf("the page lacks %q", present)
		}
	}
}

// A broken certificate must show: as a share below 100 % and in the colour of failures.
func TestDemoShowsFailures(t *testing.T) {
	in := input(1)
	in.Records["emgd-gmc"][200].Slacks[0] = -0.5
	in.Toy[0].F1[1500] += 0.01
	html := page(t, in)
	if !strings.Contains(html, `<td class="bad">99.76 %</td>`) {
		t.Error("one unproved step in 410 is not shown")
	}
	if strings.Count(html, "✗") != 1 || strings.Count(html, "✓") != 4 {
		t.Error("a toy descent that misses its known end is not shown")
	}
}

func TestBadInput(t *testing.T) {
	mixed := input(1)
	mixed.Runs[1].Dataset = "other"
	for name, in := range map[string]report.DemoInput{"none": {}, "mixed": mixed} {
		for what, write := range map[string]func(io.Writer, report.DemoInput) error{"page": report.Demo, "cover": report.Cover} {
			var buf bytes.Buffer
			if write(&buf, in) == nil {
				t.Errorf("%s, %s: no error", name, what)
			}
			if buf.Len() > 0 {
				t.Errorf("%s, %s: %d bytes written before the error", name, what, buf.Len())
			}
		}
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	if err := report.Demo(full{}, input(1)); !errors.Is(err, errFull) {
		t.Errorf("page: %v", err)
	}
	if err := report.Cover(full{}, input(1)); !errors.Is(err, errFull) {
		t.Errorf("cover: %v", err)
	}
}

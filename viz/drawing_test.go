package viz_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/viz"
)

// TestDrawings: every figure keeps its drawing through JSON, and is a well-formed piece of a page with a description and
// something to ask for.
func TestDrawings(t *testing.T) {
	all := figures(t, invented.Runs(1), invented.Descents())
	maps.Copy(all, measured(t))
	for name, fig := range all {
		d := viz.DrawFrames(0, nil, fig)
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := viz.ReadFrames(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		page := back.HTML()
		if page != d.HTML() {
			t.Errorf("%s has changed on its way through JSON", name)
		}
		checkXML(t, name, []byte(page))
		for _, want := range []string{` role="img" aria-label="`, ` data-values="`, "light-dark("} {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
		if name != "EditedImages" && !strings.Contains(page, " data-series=") && !strings.Contains(page, " data-say=") {
			t.Errorf("%s says nothing under the pointer", name)
		}
	}
}

// TestForeignDrawings: what could be more than a drawing is refused, and names are texts.
func TestForeignDrawings(t *testing.T) {
	good := `{"Drawings":[{"Name":"x","Alt":"\"><script>","Width":600,"Colors":[["#112233","#445566"]],
		"Rows":[[{"Box":[0,0,9,9],"X":{"Label":"'\"><script>"},"Groups":[{"Name":"\"><script>","Say":"<script>","Marks":[{"Path":"M0 0L1 1"},{"Text":"<script>"}]}]}]]}]}`
	f, err := viz.ReadFrames([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if page := f.HTML(); strings.Contains(page, "<script") || !strings.Contains(page, "&lt;script&gt;") {
		t.Error("a name is markup:", page)
	}
	for _, change := range [][2]string{
		{"#112233", "red;} body{background:url(x)"}, {"#445566", `"><script>`}, {"M0 0L1 1", `M0 0"/><script>`}, {`"Name":"x"`, `"Name":"../x"`},
		{`"Path":"M0 0L1 1"`, `"Image":"AAAA\"><script>"`}, {`"Path":"M0 0L1 1"`, `"Path":"M0 0","Color":7`}, {`"Width":600`, `"Width":1e300`},
		{`{"Drawings":[`, `{"Start":3,"Drawings":[`}, {`{"Drawings":[`, `{"Labels":[],"Drawings":[`}, {`{"Drawings":[`, `{"Drawings":[null,`}, {good, `{}`}, {good, ``},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if _, err := viz.ReadFrames([]byte(bad)); err == nil {
			t.Errorf("%s was read", change[1])
		}
	}
}

// TestForeignDataAreBounded: data that unpack to more than a page holds are refused, in one frame or in all, and fast.
func TestForeignDataAreBounded(t *testing.T) {
	frame := func(csv string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(csv))
		w.Close()
		return `{"Width":9,"CSV":"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"}`
	}
	series := func(at string) string { return `{"Width":9,"Rows":[[{"Groups":[{"Name":"a","At":[` + at + `]}]}]]}` }
	third := frame("a,b\n" + strings.Repeat("x,1\n", 50_000))
	begun := time.Now()
	for name, c := range map[string]struct {
		frames []string
		want   bool
	}{
		"a third":           {[]string{third, third}, true},
		"too many frames":   {[]string{third, third, third}, false},
		"too many columns":  {[]string{frame(strings.Repeat("x,", 2000) + "x\n")}, false},
		"just columns":      {[]string{frame(strings.Repeat("x,", 999) + "x\n")}, true},
		"too many bytes":    {[]string{frame("a\n" + strings.Repeat("x", 3<<20))}, false},
		"a cut number":      {[]string{frame("a\n" + strings.Repeat(" ", 2<<20-3) + "12")}, false},
		"a long series":     {[]string{series("[1,2]" + strings.Repeat(",[1,2]", 600_000))}, false},
		"one wide value":    {[]string{series("[1" + strings.Repeat(",1", 900) + "]" + strings.Repeat(",[]", 2000))}, false},
		"no data":           {[]string{frame("")}, true},
		"rows of two kinds": {[]string{frame("a,b\n1\n")}, false},
	} {
		_, err := viz.ReadFrames([]byte(`{"Drawings":[` + strings.Join(c.frames, ",") + `]}`))
		if (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is read is shown in no time.
	wide := strings.Repeat("x,", 999) + "x\n"
	f, err := viz.ReadFrames([]byte(`{"Drawings":[` + frame(strings.Repeat(wide, 250)) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	f.HTML()
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestNamesThatXMLForbids: a control character in a name, which JSON can bring, spoils no drawing.
func TestNamesThatXMLForbids(t *testing.T) {
	for _, name := range []string{"a\x01b\x1b[0m", "<b>&\"'", "\ufffe\uffff", "x\ny\tz"} {
		run := invented.Runs(1)[0]
		run.Tasks[0].Name, run.Tasks[0].Names, run.Tasks[0].Classes = name, []string{name}, []int{0}
		p := viz.NewPlot(name, name, name)
		p.Line(name, viz.Style{}, []float64{0, 1}, []float64{0, 1})
		for kind, f := range drawn(t, map[string]func() (*viz.Figure, error){
			"bars": func() (*viz.Figure, error) { return viz.Timeline(run) }, "own": func() (*viz.Figure, error) { return viz.Plots("own", name, p) },
		}) {
			checkXML(t, kind, encoded(t, kind, f, "svg"))
			checkXML(t, kind, []byte(viz.DrawFrames(0, nil, f).HTML()))
		}
	}
}

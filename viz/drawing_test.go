package viz_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/viz"
)

// TestDrawings: every figure keeps its drawing through JSON, and is a well-formed piece of a page
// with a description and something to ask for.
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

// TestForeignDrawings: nothing but a figure is read, and names are texts.
func TestForeignDrawings(t *testing.T) {
	good := `{"Drawings":[{"Name":"x","Alt":"\"><script>","Width":6000,"Colors":[["#112233","#445566"]],
		"Rows":[[{"Box":[0,0,9,9],"X":{"Label":"'\"><script>"},"Groups":[
			{"Name":"\"><script>","Say":"<script>","Marks":[{"Path":"M0 0l1 1"},{"Text":"<script>"}]}]}]]}]}`
	f, err := viz.ReadFrames([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if page := f.HTML(); strings.Contains(page, "<script") || !strings.Contains(page, "&lt;script&gt;") {
		t.Error("a name is markup:", page)
	}
	for name, c := range map[string]struct{ old, new string }{
		"a colour that ends its style": {"#112233", "red;} body{background:url(x)"},
		"a colour that is markup":      {"#445566", `"><script>`},
		"a path that is markup":        {"M0 0l1 1", `M0 0\"/><script>`},
		"a path of an earlier version": {"M0 0l1 1", `M0.5 0L1 1`},
		"a path without its end":       {"M0 0l1 1", `M0 0l1`},
		"a name that is a path":        {`"Name":"x"`, `"Name":"../x"`},
		"a picture that is none":       {`"Path":"M0 0l1 1"`, `"Image":"AAAA\"><script>"`},
		"a colour that there is not":   {`"Path":"M0 0l1 1"`, `"Path":"M0 0","Color":7`},
		"a box with fractions":         {`[0,0,9,9]`, `[0,0,9.5,9]`},
		"a width out of range":         {`"Width":6000`, `"Width":1e300`},
		"a start without a frame":      {`{"Drawings":[`, `{"Start":3,"Drawings":[`},
		"labels for no frame":          {`{"Drawings":[`, `{"Labels":[],"Drawings":[`},
		"no drawing":                   {`{"Drawings":[`, `{"Drawings":[null,`},
		"no drawings":                  {good, `{}`},
		"nothing":                      {good, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := viz.ReadFrames([]byte(strings.Replace(good, c.old, c.new, 1))); err == nil {
				t.Error("it was read")
			}
		})
	}
}

// TestForeignDataAreBounded: data that unpack to more than a page holds, or that its script cannot
// read, are refused.
func TestForeignDataAreBounded(t *testing.T) {
	frame := func(values string) string { return `{"Width":90,"Values":"` + viz.Pack([]byte(values)) + `"}` }
	table := func(columns string) string { return frame(`{"data":[` + columns + `],"series":[]}`) }
	series := func(columns string) string {
		return `{"Width":90,"Rows":[[{"Groups":[{"Name":"a","Marks":[{"Path":"M0 0"}]}]}]],"Values":"` +
			viz.Pack([]byte(`{"data":[],"series":[[`+columns+`]]}`)) + `"}`
	}
	third := table(`["a",-2,"x"` + strings.Repeat(`,0`, 50_000) + `],["b",0` + strings.Repeat(`,1`, 50_001) + `]`)
	numbers := func(n int) string { return `["",0` + strings.Repeat(`,1`, n) + `]` }
	for name, c := range map[string]struct {
		frames []string
		want   bool
	}{
		"two thirds":       {[]string{third, third}, true},
		"too many frames":  {[]string{third, third, third}, false},
		"too many columns": {[]string{table(strings.Repeat(`["x",0],`, 2000) + `["x",0]`)}, false},
		"just columns":     {[]string{table(strings.Repeat(`["x",0],`, 999) + `["x",0]`)}, true},
		"too many bytes":   {[]string{table(`["a",-2,"` + strings.Repeat("x", 3<<20) + `"]`)}, false},
		"bytes in two": {[]string{table(`["` + strings.Repeat("x", 3<<19) + `",0]`),
			table(`["` + strings.Repeat("x", 3<<19) + `",0]`)}, false},
		"a long series":             {[]string{series(numbers(600_000) + "," + numbers(600_000))}, false},
		"a series":                  {[]string{series(numbers(3) + "," + numbers(3))}, true},
		"a series without values":   {[]string{series("")}, true},
		"a series of three":         {[]string{series(numbers(3) + "," + numbers(3) + "," + numbers(3))}, false},
		"a series of texts":         {[]string{series(`["",-2,"x"],["",-2,"y"]`)}, false},
		"a series with holes":       {[]string{series(`["",0,null],["",0,1]`)}, false},
		"a series that nobody drew": {[]string{frame(`{"data":[],"series":[[]]}`)}, false},
		"no data":                   {[]string{table("")}, true},
		"no values":                 {[]string{`{"Width":90}`}, true},
		"columns of two lengths":    {[]string{table(numbers(1) + "," + numbers(2))}, false},
		"no JSON":                   {[]string{frame(`a,b`)}, false},
		"not packed":                {[]string{`{"Width":90,"Values":"eA=="}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := viz.ReadFrames([]byte(`{"Drawings":[` + strings.Join(c.frames, ",") + `]}`))
			if (err == nil) != c.want {
				t.Fatalf("the error is %v; want one: %t", expect.Text(err), !c.want)
			}
			if err == nil && strings.Contains(f.HTML(), "null") {
				t.Error("its page has no list for a table")
			}
		})
	}
}

// TestNamesThatXMLForbids: a control character in a name, which JSON can bring, spoils no drawing.
func TestNamesThatXMLForbids(t *testing.T) {
	for _, name := range []string{"a\x01b\x1b[0m", "<b>&\"'", "\ufffe\uffff", "x\ny\tz"} {
		t.Run(name, func(t *testing.T) {
			run := invented.Runs(1)[0]
			run.Tasks[0].Name, run.Tasks[0].Names, run.Tasks[0].Classes = name, []string{name}, []int{0}
			p := viz.NewPlot(name, name, name)
			p.Line(name, viz.Style{}, []float64{0, 1}, []float64{0, 1})
			for kind, f := range drawn(t, map[string]func() (*viz.Figure, error){
				"bars": func() (*viz.Figure, error) {
					return viz.Timeline(run)
				}, "own": func() (*viz.Figure, error) { return viz.Plots("own", name, p) },
			}) {
				checkXML(t, kind, encoded(t, kind, f, "svg"))
				checkXML(t, kind, []byte(viz.DrawFrames(0, nil, f).HTML()))
			}
		})
	}
}

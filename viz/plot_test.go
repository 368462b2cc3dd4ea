package viz

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// A figure that is put together from its fields can be saved, or is an error.
func TestFigureByHand(t *testing.T) {
	f := &Figure{Rows: [][]*plot.Plot{{plot.New(), Light.newPlot("x", "y")}}}
	for _, format := range []string{"png", "svg", "pdf"} {
		for _, fig := range []*Figure{f, f.Narrow()} {
			if err := fig.Save(filepath.Join(t.TempDir(), "f."+format)); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
	one := []*plot.Plot{plot.New()}
	for _, bad := range []*Figure{
		{}, {Rows: [][]*plot.Plot{{}}}, {Rows: [][]*plot.Plot{{nil}}}, {Rows: [][]*plot.Plot{one, nil}},
		{Rows: [][]*plot.Plot{one}, Width: -1}, {Rows: [][]*plot.Plot{one}, Share: []float64{1, 2}},
		{Rows: [][]*plot.Plot{one}, Share: []float64{0}}, {Rows: [][]*plot.Plot{one}, Share: []float64{math.NaN()}},
	} {
		for _, fig := range []*Figure{bad, bad.Narrow()} {
			if err := fig.Save(filepath.Join(t.TempDir(), "f.png")); err == nil {
				t.Errorf("%+v was saved", bad)
			}
		}
	}
}

// The first mistake in a plot of one's own is the figure's error, and names the series.
func TestPlotsRefuse(t *testing.T) {
	two := []float64{1, 2}
	for want, add := range map[string]func(p *Plot){
		`series "a": 2 places on the horizontal axis and 1 values`: func(p *Plot) { p.Line("a", Style{}, two, two[:1]) },
		"0 places": func(p *Plot) { p.Points("a", Style{}, nil, nil) },
		"point 1 is (2, NaN), which is not finite": func(p *Plot) { p.Line("a", Style{}, two, []float64{1, math.NaN()}) },
		"a band needs at least two points":         func(p *Plot) { p.Band("a", Style{}, two[:1], two[:1], two[:1]) },
		"1 values":                                 func(p *Plot) { p.Band("a", Style{}, two, two, two[:1]) },
		"no measurements":                          func(p *Plot) { p.Series("a", Style{}, two) },
		"1 values at 2 places":                     func(p *Plot) { p.Series("a", Style{}, two, two, two[:1]) },
		"which is not finite":                      func(p *Plot) { p.Series("a", Style{}, two, []float64{1, math.Inf(1)}) },
		"a mark at NaN":                            func(p *Plot) { p.Mark(math.NaN(), "a") },
	} {
		p := NewPlot(Light, "title", "x", "y")
		add(p)
		p.Line("fine", Style{}, two, two)
		if _, err := Plots("name", "alt", p); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"title"`) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	for _, plots := range [][]*Plot{nil, {nil}, {{}}} {
		if _, err := Plots("name", "alt", plots...); err == nil {
			t.Errorf("a figure of %v", plots)
		}
	}
}

// A series of one colour has one place in the key of a figure, whatever parts and plots it has.
func TestPlotsKey(t *testing.T) {
	x := []float64{1, 2}
	a, b := NewPlot(Light, "a", "", ""), NewPlot(Light, "b", "", "")
	s := Light.Method("mine")
	a.Line("one", s, x, x)
	a.Points("one", s, x, x)
	b.Line("one", s, x, x)
	b.Line("two", s, x, x)
	b.Line("", s, x, x)
	f, err := Plots("f", "alt", a, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.key) != 2 || f.key[0].glyph.Shape == nil || f.key[0].line.Width == 0 {
		t.Errorf("key %+v", f.key)
	}
	if len(f.Data.Rows) != 10 {
		t.Errorf("%d rows of data", len(f.Data.Rows))
	}
	if err := f.Encode(&bytes.Buffer{}, "svg"); err != nil {
		t.Error(err)
	}
}

// Methods and series that the package does not know keep their colour from figure to figure, and have none that a method
// of the package has.
func TestOwnColours(t *testing.T) {
	for _, theme := range []*Theme{Light, Dark} {
		known := map[color.NRGBA]string{}
		for _, name := range order {
			for _, variant := range []string{"", "+me", "+1", "+2"} {
				known[theme.Method(name+variant).Color] = name
			}
		}
		for i := range 2 * len(theme.Hues) {
			known[theme.hue(i)] = fmt.Sprint("hue ", i)
		}
		seen := map[color.NRGBA]bool{}
		for i := range 200 {
			name := fmt.Sprint("mine-", i)
			c := theme.Method(name).Color
			if other, taken := known[c]; taken {
				t.Errorf("%s has the colour of %s", name, other)
			}
			if theme.Methods("emgd", "mgda", name)[name].Color != c {
				t.Errorf("%s has another colour beside other methods", name)
			}
			seen[c] = true
		}
		if len(seen) != len(theme.Own) {
			t.Errorf("200 names have %d colours, want %d", len(seen), len(theme.Own))
		}
		var names []string
		for i := range len(theme.Own) {
			names = append(names, fmt.Sprint("mine-", i))
		}
		apart := map[color.NRGBA]bool{}
		for _, s := range theme.Methods(names...) {
			apart[s.Color] = true
		}
		if len(apart) != len(names) {
			t.Errorf("%d names of one figure have %d colours", len(names), len(apart))
		}
	}
}

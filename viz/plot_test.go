package viz

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// A figure that is put together from its fields can be saved.
func TestFigureByHand(t *testing.T) {
	f := &Figure{Rows: [][]*plot.Plot{{plot.New(), NewBarePlot("", "x", "y").Plot}}}
	for _, format := range []string{"png", "svg", "pdf"} {
		t.Run(format, func(t *testing.T) {
			if err := f.Save(filepath.Join(t.TempDir(), "f."+format)); err != nil {
				t.Error(err)
			}
		})
	}
}

// The first mistake in a plot of one's own is the figure's error, and names the plot.
func TestPlotsRefuse(t *testing.T) {
	two := []float64{1, 2}
	for name, add := range map[string]func(p *Plot){
		"lengths":       func(p *Plot) { p.Line("a", Style{}, two, two[:1]) },
		"nothing":       func(p *Plot) { p.Points("a", Style{}, nil, nil) },
		"NaN":           func(p *Plot) { p.Line("a", Style{}, two, []float64{1, math.NaN()}) },
		"uneven band":   func(p *Plot) { p.Band("a", Style{}, two, two, two[:1]) },
		"uneven series": func(p *Plot) { p.Mean("a", Style{}, two, two, two[:1]) },
		"uneven spread": func(p *Plot) { p.Add(&Curve{XY: plotter.XYs{{X: 1}, {X: 2}}, Std: two[:1]}) },
		"a plotter's":   func(p *Plot) { p.Add(Named(Series{Values: plotter.XYs{{X: 1, Y: math.NaN()}}})) },
		"its spread":    func(p *Plot) { p.Add(Named(Series{Values: plotter.XYs{{}}, Low: two[:1], High: two})) },
		"infinite":      func(p *Plot) { p.Mean("a", Style{}, two, []float64{1, math.Inf(1)}) },
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPlot("title", "x", "y")
			add(p)
			p.Line("fine", Style{}, two, two)
			if _, err := Plots("name", "alt", p); err == nil {
				t.Error(expect.Text(err))
			}
		})
	}
}

// A plotter's series is in the key, in the figure's data, and in pages; marks drawn after it are
// not part of it.
func TestAddedSeries(t *testing.T) {
	p, xys := NewPlot("title", "x", "y"), plotter.XYs{{X: 1, Y: 2}, {X: 3, Y: 4}}
	drawn := Sketch(func(c Pen) { c.DrawSegment(lineStyle(Ink, 1), c.At(1, 2), c.At(3, 4)) })
	p.Add(Named(Series{KeyEntry: Swatch("mine", Ink), Values: xys, Low: []float64{1, 3}, High: []float64{3, 5}}, drawn),
		drawn)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 4, 0, 6
	f, err := Plots("f", "alt", p)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case len(f.Key) != 1:
		t.Errorf("len(f.Key) is %d; want 1", len(f.Key))
	case f.Key[0].Label != "mine":
		t.Errorf("f.Key[0].Label is %q; want %q", f.Key[0].Label, "mine")
	}
	if want := []any{"title", "mine", 3.0, 4.0, 3.0, 5.0}; len(f.Data.Rows) != 2 || !slices.Equal(f.Data.Rows[1], want) {
		t.Errorf("data %v", f.Data.Rows)
	}
	if page := DrawFrames(0, nil, f).HTML(); strings.Count(page, `data-series="mine"`) != 1 {
		t.Errorf("the page has %d series", strings.Count(page, `data-series="mine"`))
	}
}

// A series of one colour has one place in the key of a figure, whatever parts and plots it has.
func TestPlotsKey(t *testing.T) {
	x := []float64{1, 2}
	a, b := NewPlot("a", "", ""), NewPlot("b", "", "")
	s := MethodStyle("mine")
	a.Line("one", s, x, x)
	a.Points("one", s, x, x)
	b.Line("one", s, x, x)
	b.Line("two", s, x, x)
	b.Line("", s, x, x)
	f, err := Plots("f", "alt", a, b)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case len(f.Key) != 2:
		t.Errorf("len(f.Key) is %d; want 2", len(f.Key))
	case f.Key[0].Glyph.Shape == nil:
		t.Error("f.Key[0].Glyph.Shape is nil")
	case f.Key[0].Line.Width == 0:
		t.Error("f.Key[0].Line.Width is 0")
	}
	if len(f.Data.Rows) != 10 {
		t.Errorf("%d rows of data", len(f.Data.Rows))
	}
}

// Methods and series that the package does not know keep their colour from figure to figure, and
// have none that a method of the package has.
func TestOwnColours(t *testing.T) {
	for side := range 2 { // light and dark
		of := func(s Style) color.NRGBA { return sideOf(s.Color, side) }
		known := map[color.NRGBA]string{}
		for _, name := range order {
			for _, s := range MethodStyles(name, name+"+1", name+"+2") {
				known[of(s)] = name
			}
		}
		seen := map[color.NRGBA]bool{}
		for i := range 200 {
			name := fmt.Sprint("mine-", i)
			c := of(MethodStyle(name))
			if other, taken := known[c]; taken {
				t.Errorf("%s has the colour of %s", name, other)
			}
			if of(MethodStyles("emgd", "mgda", name)[name]) != c {
				t.Errorf("%s has another colour beside other methods", name)
			}
			seen[c] = true
		}
		if len(seen) != len(own) {
			t.Errorf("200 names have %d colours, want %d", len(seen), len(own))
		}
		apart := map[color.NRGBA]bool{}
		for _, s := range MethodStyles(strings.Split("abcdefghi", "")...) {
			apart[of(s)] = true
		}
		if len(apart) != len(own) {
			t.Errorf("nine names of one figure have %d colours", len(apart))
		}
	}
}

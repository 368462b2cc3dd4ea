package viz

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// TestNamesCoverNoMark: names beside points cover neither points nor intervals nor each other, as
// far as there is room.
func TestNamesCoverNoMark(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := NewPlot("", "", "")
			p.LabelPoints()
			var all []Series
			for i := range 4 + n%5 {
				at, half := plotter.XYs{{X: rng.Float64(), Y: rng.Float64()}}, 0.1*rng.Float64()
				s := Series{KeyEntry: KeyEntry{Label: fmt.Sprint("method ", i), Glyph: MethodStyle("er").GlyphStyle(3)}, Values: at,
					Low: []float64{at[0].Y - half}, High: []float64{at[0].Y + half}}
				all = append(all, s)
				p.Add(Named(s, &plotter.Scatter{XYs: at, GlyphStyle: s.Glyph}))
			}
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.2, 1.2, -0.2, 1.2
			f, err := Plots("beside", "Points.", p)
			if err != nil {
				t.Fatal(err)
			}
			d := f.drawing().Rows[0][0]
			place := func(x, y float64) vg.Point {
				return vg.Point{X: vg.Length(float64(d.Data[0]) + float64(d.Data[2])*d.X.share(x)),
					Y: vg.Length(float64(d.Data[1]) + float64(d.Data[3])*(1-d.Y.share(y)))}
			}
			var marks []vg.Rectangle
			for _, s := range all {
				at := s.Values[0]
				bar := spanned(place(at.X, s.Low[0]), place(at.X, s.High[0]))
				marks = append(marks, square(place(at.X, at.Y), 30), bar)
			}
			names := 0
			for _, g := range d.Groups {
				for _, m := range g.Marks {
					if m.Text == "" || g.Name == "" {
						continue
					}
					names++
					low := vg.Point{X: vg.Length(m.X), Y: vg.Length(m.Y - 60)}
					letters := vg.Rectangle{Min: low, Max: vg.Point{X: low.X + 10*TextStyle(Ink).Width(m.Text), Y: vg.Length(m.Y)}}
					for _, other := range marks {
						if overlap(letters, other) {
							t.Errorf("%s at %v covers %v", m.Text, letters, other)
						}
					}
					marks = append(marks, letters)
				}
			}
			if names != len(all) {
				t.Errorf("%d names of %d", names, len(all))
			}
		})
	}
}

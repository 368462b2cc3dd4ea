package viz

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TestGeometryStandsStill: the gradients of a pair stand still while σ moves d, and frames of a
// slider have the same axes.
func TestGeometryStandsStill(t *testing.T) {
	var figures []*Figure
	for s := 1; s <= 9; s += 4 {
		p, step := solved(t, [][]float64{{1, 0.2}, {0.3, 1.8}}, float64(s)/10, float64(10-s)/10)
		gram := p.Gram()
		x, y := pairPlane(gram) // which does not know σ
		for i := range 2 {
			for j := range 2 {
				if got := x[i]*x[j] + y[i]*y[j]; !scalar.EqualWithinAbs(got, gram[2*i+j], 1e-12) {
					t.Errorf("J%d·J%d is %v in the plane, want %v", i+1, j+1, got, gram[2*i+j])
				}
			}
		}
		f, err := StepGeometry(p, step)
		if err != nil {
			t.Fatal(err)
		}
		figures = append(figures, f)
	}
	first, last := figures[0].Rows[0], figures[2].Rows[0]
	if first[0].X.Max == last[0].X.Max {
		t.Fatal("the frames had the same axes before: nothing is tested")
	}
	if sameAxes(figures...); first[0].X.Max != last[0].X.Max || first[1].X.Max != last[1].X.Max {
		t.Errorf("the frames end at %v and %v", first[0].X.Max, last[0].X.Max)
	}
	sameAxes(figures[0], &Figure{}) // which are not of one kind
}

// A label that has no room joins the one before.
func TestArrivalLabels(t *testing.T) {
	marks := []vertical{{0, "task 1"}, {40, "2"}, {43, "3"}, {160, "4"}, {900, "9"}}
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 400, Y: 100}}}
	var got []string
	for _, l := range markLabels(marks, c, func(x float64) vg.Length {
		return vg.Length(x)
	}, func(s string) vg.Length { return 6 * vg.Length(len(s)) }) {
		got = append(got, l.text)
	}
	if want := []string{"task 1", "2, 3", "4"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}

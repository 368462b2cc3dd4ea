package viz

import (
	"image"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// What figures must show.

// The gradients of a pair stand still while σ moves d, and frames of a slider have the same axes.
func TestGeometryStandsStill(t *testing.T) {
	var figures []*Figure
	for s := 1; s <= 9; s += 4 {
		step, err := Geometry([][]float64{{1, 0.2}, {0.3, 1.8}}, []float64{float64(s) / 10, float64(10-s) / 10})
		if err != nil {
			t.Fatal(err)
		}
		x, y := pairPlane(step.Gram) // which does not know σ
		for i := range 2 {
			for j := range 2 {
				if got := x[i]*x[j] + y[i]*y[j]; !scalar.EqualWithinAbs(got, step.Gram[2*i+j], 1e-12) {
					t.Errorf("J%d·J%d is %v in the plane, want %v", i+1, j+1, got, step.Gram[2*i+j])
				}
			}
		}
		f, err := StepGeometry(Light, step)
		if err != nil {
			t.Fatal(err)
		}
		figures = append(figures, f)
	}
	first, last := figures[0].Rows[0], figures[2].Rows[0]
	if first[0].X.Max == last[0].X.Max {
		t.Fatal("the frames had the same axes before: nothing is tested")
	}
	if err := SameAxes(figures...); err != nil || first[0].X.Max != last[0].X.Max || first[1].X.Max != last[1].X.Max {
		t.Errorf("the frames end at %v and %v, %v", first[0].X.Max, last[0].X.Max, err)
	}
	if other := (&Figure{}); SameAxes(figures[0], other) == nil {
		t.Error("figures of other kinds share axes")
	}
}

// Slack shows where there is some: σ₁ = 0.1 leaves some to the first gradient, 0.4 to none, 0.9 to the second.
func TestGeometryShowsSlack(t *testing.T) {
	for s, want := range map[int][]int{1: {2, 1}, 4: {1, 1}, 9: {1, 2}} {
		sigma := []float64{float64(s) / 10, float64(10-s) / 10}
		step, err := Geometry([][]float64{{1, 0.2}, {0.3, 1.8}}, sigma)
		if err != nil {
			t.Fatal(err)
		}
		along, _, length, err := plane(step.Gram, step.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if got := gainBars(Light, i, along[i]/length, sigma[i], Light.Hues[0], ""); len(got) != want[i] {
				t.Errorf("σ₁ = 0.%d: stream %d has %d bars, want %d", s, i+1, len(got), want[i])
			}
		}
	}
}

// Names stand beside their tips, off all arrows and off each other, also where d lies on a gradient.
func TestGeometryNamesStandFree(t *testing.T) {
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 300, Y: 250}}}
	for s := 1; s <= 9; s++ {
		step, err := Geometry([][]float64{{1, 0.2}, {0.3, 1.8}}, []float64{float64(s) / 10, float64(10-s) / 10})
		if err != nil {
			t.Fatal(err)
		}
		x, y := pairPlane(step.Gram)
		d := arrow{x: step.Lambda[0]*x[0] + step.Lambda[1]*x[1], y: step.Lambda[0]*y[0] + step.Lambda[1]*y[1], text: "d"}
		a := &arrows{theme: Light, axis: d, items: []arrow{{x: x[0], y: y[0], text: "task 1"}, {x: x[1], y: y[1], text: "task 2"}, d}}
		p := Light.newPlot("", "")
		p.Add(a)
		at := scaled(draw.Crop(c, 0, -vg.Points(40), vg.Points(10), -vg.Points(10)), p)
		taken, sty := a.taken(at), Light.text(Light.Ink, tickSize)
		for i, left := range a.names(c, at) {
			size, tip := sty.Rectangle(a.items[i].text).Size(), at(a.items[i].x, a.items[i].y)
			box := vg.Rectangle{Min: vg.Point{X: left.X, Y: left.Y - size.Y/2}, Max: vg.Point{X: left.X + size.X, Y: left.Y + size.Y/2}}
			for _, other := range taken {
				if overlap(box, other) {
					t.Errorf("σ₁ = 0.%d: the name %s covers something", s, a.items[i].text)
					break
				}
			}
			taken = append(taken, box)
			if near := nearest(box, tip).Sub(tip); near.Dot(near) > 50*50 {
				t.Errorf("σ₁ = 0.%d: the name %s is at %v, far from its tip", s, a.items[i].text, near)
			}
		}
	}
}

// The points lie on the law that is drawn: two streams of one length at a cosine, over all σ.
func TestMeasuredRatioFollowsLaw(t *testing.T) {
	for _, cosine := range []float64{-0.5, 0, 0.5} {
		law := ratioLaw(cosine)
		for _, k := range []int{59, 79, 99, 119, 139} { // σ₁ = 0.3 to 0.7
			s := law[k].X
			step, err := Geometry([][]float64{{2, 0}, {2 * cosine, 2 * math.Sqrt(1-cosine*cosine)}}, []float64{s, 1 - s})
			if err != nil {
				t.Fatal(err)
			}
			got, met, err := pairSteps([]results.Record{step}, 1, 2)
			if err != nil || met != 1 || len(got) != 1 {
				t.Fatalf("%d steps of %d, %v", len(got), met, err)
			}
			if !scalar.EqualWithinAbs(got[0].quotient(), law[k].Y, 1e-9) || !scalar.EqualWithinAbs(got[0].share, s, 1e-12) {
				t.Errorf("cosine %v, σ₁ = %v: %v, the law says %v", cosine, s, got[0].quotient(), law[k].Y)
			}
		}
	}
	// At right angles also with other lengths and more streams.
	step, err := Geometry([][]float64{{1, 0, 0}, {0, 3, 0}, {0, 0, 2}}, []float64{.2, .5, .3})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := pairSteps([]results.Record{step}, 1, 2)
	if err != nil || !scalar.EqualWithinAbs(got[0].quotient(), math.Log10(.5/.2), 1e-9) {
		t.Errorf("at right angles: %v, %v", got, err)
	}
}

// A label that has no room joins the one before.
func TestArrivalLabels(t *testing.T) {
	marks := []vertical{{0, "task 1"}, {40, "2"}, {43, "3"}, {160, "4"}, {900, "9"}}
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 400, Y: 100}}}
	var got []string
	for _, l := range markLabels(marks, c, func(x float64) vg.Length { return vg.Length(x) }, func(s string) vg.Length { return 6 * vg.Length(len(s)) }) {
		got = append(got, l.text)
	}
	if want := []string{"task 1", "2, 3", "4"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}

func TestRehearsalBaseline(t *testing.T) {
	features := [][]float64{{1, 0}, {3, 0}, {0, 2}, {0, 5}, {1, 1}, {0, 1}, {1, 1}}
	class, stored := []int{7, 7, 8, 7, 7, 8, 9}, []bool{false, false, false, true, true, true, false}
	got, err := RehearsalBaseline(features, class, stored)
	if err != nil {
		t.Fatal(err)
	}
	// Class 7's samples (0, 5) and (1, 1) against (0, 1) and (1, 1)/√2; 8's (0, 1) against (1, 0) and (1, 1)/√2.
	seven := (1 + math.Sqrt2/2 + math.Sqrt2/2 + 1) / 4
	if !scalar.EqualWithinAbs(got[7], seven, 1e-12) || !scalar.EqualWithinAbs(got[8], math.Sqrt2/4, 1e-12) || len(got) != 2 {
		t.Errorf("baseline %v, want %v and %v", got, seven, math.Sqrt2/4)
	}
	if _, err := RehearsalBaseline(features[:2], []int{1, 1}, []bool{false, true}); err == nil {
		t.Error("one class alone has a baseline")
	}
}

// Edits on strokes and beside them are told apart.
func TestChangeOnStrokes(t *testing.T) {
	const side = 9
	m := EditedImage{H: side, W: side, C: 1, Before: make([]float32, side*side), Gradient: make([]float32, side*side)}
	for y := range side {
		for x := 3; x < 6; x++ {
			m.Before[y*side+x] = 1 // a stroke from top to bottom
		}
	}
	strokes := m.strokes()
	if got := share(strokes); got != 1./3 {
		t.Errorf("the stroke covers %v of the image, want 1/3", got)
	}
	m.After = slices.Clone(m.Before)
	m.After[4] -= 0.5 // on the stroke
	m.After[0] += 0.5 // in the corner
	m.After[1] += 1
	if got := m.changeOn(strokes); !scalar.EqualWithinAbs(got, 0.25, 1e-9) {
		t.Errorf("%v of the change lies on the stroke, want 1/4", got)
	}
	edges := outlineOf(strokes, side)
	if len(edges) != 2*side+2*3 || !slices.Contains(edges, [2]image.Point{{3, 0}, {3, 1}}) {
		t.Errorf("%d edges around the stroke, want %d: %v", len(edges), 2*side+2*3, edges)
	}
	m.After = m.Before
	if _, err := EditedImages(Light, m); err != nil {
		t.Errorf("an image without a change: %v", err)
	}
}

// The parts of a step keep apart on their axis, and a part of no time has no place there.
func TestTimeTicks(t *testing.T) {
	var labels []string
	for _, tick := range (timeTicks{}).Ticks(-4.1, 3.1) {
		labels = append(labels, tick.Label)
	}
	if want := []string{"100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"}; !slices.Equal(labels, want) {
		t.Errorf("ticks %q, want %q", labels, want)
	}
	f, err := StepTimes(Light, StepTime{"a", []TimePart{{"weights", 0}, {"rest", 2}}})
	if err != nil || f.Rows[0][1].X.Min > math.Log10(2) {
		t.Errorf("%v, axis from %v", err, f.Rows[0][1].X.Min)
	}
}

package viz

import (
	"math"
	"testing"
)

func TestContourOfACircle(t *testing.T) {
	g := sampleGrid(func(x, y float64) float64 { return x*x + y*y }, [4]float64{-1, 1, -1, 1})
	lines := g.contour(0.25)
	if len(lines) != 1 {
		t.Fatalf("%d lines, want one circle", len(lines))
	}
	circle := lines[0]
	if circle[0] != circle[len(circle)-1] {
		t.Error("the circle is not closed")
	}
	for _, xy := range circle {
		if r := math.Hypot(xy[0], xy[1]); math.Abs(r-0.5) > 2e-3 {
			t.Errorf("point %v has radius %v, want 0.5", xy, r)
		}
	}
}

// A saddle has two lines at each level, which never meet; none at values it does not take.
func TestContourOfASaddle(t *testing.T) {
	g := sampleGrid(func(x, y float64) float64 { return x * y }, [4]float64{-1, 1, -1, 1})
	for _, level := range []float64{-0.3, -1e-5, 1e-5, 0.3} {
		lines := g.contour(level)
		if len(lines) != 2 {
			t.Errorf("level %v: %d lines, want 2", level, len(lines))
		}
		for _, line := range lines {
			for _, xy := range line {
				if math.Abs(xy[0]*xy[1]-level) > 1e-3 || xy[0]*line[0][0] < -1e-3 {
					t.Errorf("level %v: point %v is off its branch", level, xy)
				}
			}
		}
	}
	if lines := g.contour(2); lines != nil {
		t.Errorf("level 2: %d lines of a function below 1", len(lines))
	}
}

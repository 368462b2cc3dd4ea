package nb

import (
	"fmt"
	"testing"

	"github.com/parallelcl/parallelcl/viz"
)

// The frames of a slider have the same axes.
func TestSliderFrames(t *testing.T) {
	var frames []Drawing
	var labels []string
	for s := 1; s < 10; s += 4 {
		step, err := viz.Geometry([][]float64{{1, 0.2}, {0.3, 1.8}}, []float64{float64(s) / 10, 1 - float64(s)/10})
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, func(t *viz.Theme) (*viz.Figure, error) { return viz.StepGeometry(t, step) })
		labels = append(labels, fmt.Sprint(s))
	}
	figures, err := sameAxes(frames, labels)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range figures {
		if p, first := f.Rows[0][1], figures[0].Rows[0][1]; p.X.Max != first.X.Max || p.Y.Max != first.Y.Max {
			t.Errorf("frame %d ends at %v and %v, the first at %v and %v", i, p.X.Max, p.Y.Max, first.X.Max, first.Y.Max)
		}
	}
	// Frames of different kinds are drawn as they are.
	if _, err := sameAxes([]Drawing{frames[0], paths}, []string{"a", "b"}); err != nil {
		t.Errorf("two kinds of figures: %v", err)
	}
}

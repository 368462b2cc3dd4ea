package viz

import (
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

func overlapping() *results.Run {
	a, b, c, d := 0.5, 0.75, 0.25, 1.0
	return &results.Run{
		ID: "two", Method: "emgd-gmc", Dataset: "glyphs", Increment: "class",
		Tasks: []results.Task{{ID: 1, Classes: []int{0, 1}, End: 20}, {ID: 2, Classes: []int{2}, Start: 15, End: 40}},
		Curve: []results.Point{
			{Step: 10, Acc: []*float64{&a}, Mean: a},
			{Step: 20, Acc: []*float64{&b, nil}, Mean: b},
			{Step: 30, Acc: []*float64{&c, &d}, Mean: 0.625},
		},
	}
}

func TestTaskCurveIsPartedAtItsEnd(t *testing.T) {
	run := overlapping()
	trained, kept := taskCurve(run, 0)
	if len(trained) != 2 || trained[1].X != 20 || trained[1].Y != 75 {
		t.Errorf("while its stream runs: %v", trained)
	}
	if len(kept) != 2 || kept[0] != trained[1] || kept[1].X != 30 || kept[1].Y != 25 {
		t.Errorf("after its end: %v; want from the last point of %v on", kept, trained)
	}
	trained, kept = taskCurve(run, 1)
	if len(trained) != 1 || trained[0].X != 30 || trained[0].Y != 100 || len(kept) != 0 {
		t.Errorf("a task that was measured once: %v, %v", trained, kept)
	}
}

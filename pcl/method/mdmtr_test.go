package method

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestMDMTRLoss: the losses that the parameters stand for are those of docs/method.md §9, two classes at
// cosines of .8 and .6.
func TestMDMTRLoss(t *testing.T) {
	for _, c := range []struct {
		params values
		apart  bool // the second class belongs to another task
		want   float64
	}{
		{values{"class_margin": 0, "task_margin": 0}, false, .018150},
		{values{"task_margin": 0}, false, .020457},
		{nil, false, .019697},
		{nil, true, .023089},
	} {
		l := newLinearLab(t, build(t, "mdmtr", c.params), perClass)
		l.outputs, l.inputs, l.byTask = 2, 3, true          // all seen classes compete also in task-incremental mode
		l.at[rehearsal.Now] = []float64{8, 6, 0, .3, 0, .4} // lengths 10 and ½
		l.tasks = []*linearTask{{id: 1, classes: []int{0, 1}}}
		if c.apart {
			l.tasks = []*linearTask{{id: 1, classes: []int{0}}, {id: 2, classes: []int{1}}}
		}
		samples := []memory.Item{{Task: 1, Class: 0, Pixels: []float32{2, 0, 0}}}
		got, err := l.Losses(rehearsal.Now, samples)
		must(t, err)
		if math.Abs(got[0]-c.want) > 1e-6 {
			t.Errorf("%v, apart: %v: loss %.6f, want %.6f", c.params, c.apart, got[0], c.want)
		}
		if l.lossOf(Memory) != l.lossOf(3) {
			t.Error("tasks and memory have different losses")
		}
	}
	if l, _ := As[rehearsal.Objective](build(t, "mdmtr", values{"legacy_norm": true})); !l.Loss(1).Frobenius {
		t.Error("legacy_norm does not reach the loss")
	}
}

// TestMDMTRDistils: without distillation it replays and stores as ER does; with it a second row of the
// same samples is 0 for the model that stored the scores.
func TestMDMTRDistils(t *testing.T) {
	plain := build(t, "mdmtr", nil)
	if _, ok := As[rehearsal.Replayer](plain); ok {
		t.Error("it replays by itself without need")
	}
	l := newLinearLab(t, build(t, "mdmtr", values{"distill": 2}), perClass)
	l.attach(4, 0, 1)
	l.step(t)
	l.attach(4, 2, 3)
	s, w := l.step(t)
	if !slices.Equal(s.IDs, []int{0, -1, 2}) || !slices.Equal(w, []float64{.5, .5, .5}) {
		t.Errorf("rows %v have weights %v", s.IDs, w)
	}
	if s.Losses[1] > 1e-10 { // stored as float32
		t.Errorf("the model that stored the scores is %g off them", s.Losses[1])
	}
	rows := l.replays(t)
	if !slices.Equal(rows[0].Indices, rows[1].Indices) {
		t.Errorf("the rows hold %v and %v", rows[0].Indices, rows[1].Indices)
	}
	drifted := l.mean(l.at[rehearsal.Now], l.store.Items(rows[1].Indices), l.lossOf(stored))
	unscaled := l.lossOf(stored)
	unscaled.Scale = 1
	if half := l.mean(l.at[rehearsal.Now], l.store.Items(rows[1].Indices), unscaled); drifted < 1e-6 || math.Abs(drifted-2*half) > 1e-12 {
		t.Errorf("after a step the distillation is %g, unscaled %g", drifted, half)
	}
}

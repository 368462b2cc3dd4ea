package pcl

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// preparing counts how often it has prepared to predict.
type preparing struct {
	method.Method
	times int
}

func (p *preparing) Prepare(rehearsal.PredictContext) error      { p.times++; return nil }
func (*preparing) Snapshot() (rehearsal.Point, rehearsal.Scorer) { return rehearsal.Current, nil }

// TestPreparedOnce: a method prepares for the first prediction after a step, or after a task came
// or went.
func TestPreparedOnce(t *testing.T) {
	m := &preparing{Method: newMethod(t, "avggrad", nil)}
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "", Options{Method: m})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
	for _, c := range []struct {
		what   string
		change func()
		want   int
	}{
		{"before the first step", func() {}, 1},
		{"once more", func() {}, 1},
		{"after a step", func() { steps(t, l, 1) }, 2},
		{"after a task came", func() { attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 2, 2, 3)) }, 3},
		{"once more", func() {}, 3},
	} {
		t.Run(c.what, func(t *testing.T) {
			c.change()
			must.Get(l.Evaluate(1))(t)
			if m.times != c.want {
				t.Errorf("prepared %d times; want %d", m.times, c.want)
			}
		})
	}
}

// TestNewest: another snapshot is taken only if the learner has changed, and the old one is closed
// then.
func TestNewest(t *testing.T) {
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
	first := must.Get(l.latest())(t)
	if must.Get(l.latest())(t) != first {
		t.Error("a second snapshot of the same version")
	}
	steps(t, l, 1)
	if must.Get(l.latest())(t) == first {
		t.Error("the snapshot of an earlier version")
	}
	if !first.closed {
		t.Error("the earlier snapshot is open")
	}
}

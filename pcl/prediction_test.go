package pcl

import (
	"errors"
	"reflect"
	"strings"
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

// TestPreparing: who waits for a network that a method trains for its predictions hears of its
// steps, and ends it by an error or a panic. The next prediction begins again, to the same bits.
func TestPreparing(t *testing.T) {
	enough, stop, told := errors.New("enough"), 0, 0
	options := Options{Seed: 3, Preparing: func(done, total int) error {
		if told++; done < 0 || done >= total {
			t.Errorf("step %d of %d", done, total)
		}
		switch {
		case stop == 1 && done == 2:
			return enough
		case stop == 2 && done == 2:
			panic("no more")
		}
		return nil
	}}
	learner := func() *Learner {
		o := options
		o.Method = newMethod(t, "gdumb", map[string]any{"passes": 2.0})
		l := smallLearner(t, pcltest.Backend(t, backend.Go), "", o)
		attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
		steps(t, l, 3)
		return l
	}
	want := must.Get(learner().Network())(t)
	l := learner()
	for how, wanted := range map[int]string{1: "enough", 2: "Options.Preparing panicked: no more"} {
		stop, told = how, 0
		if _, err := l.Evaluate(1); err == nil || !strings.Contains(err.Error(), wanted) || told != 3 {
			t.Errorf("%v after %d steps; want %q after 3", err, told, wanted)
		}
	}
	stop = 0
	if got := must.Get(l.Network())(t); !reflect.DeepEqual(got.Tensors, want.Tensors) {
		t.Error("after it was ended, another network")
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

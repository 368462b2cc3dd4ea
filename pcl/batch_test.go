package pcl

import (
	"errors"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestCopiedBatches: a device of its own memory gets the tasks' batches before they are needed,
// with the same bits.
func TestCopiedBatches(t *testing.T) {
	b, separate := pcltest.Backend(t, backend.XLACPU), pcltest.Separate(t)
	for name, o := range map[string]Options{"plain": {}, "edited": {Edit: Edit{Eta: 0.01}}} {
		t.Run(name, func(t *testing.T) {
			own, accuracy := trainedOn(t, b, o, false)
			ends, same := trainedOn(t, separate, o, true)
			if !slices.Equal(own, ends) || accuracy != same {
				t.Error("copied batches end with other parameters or another accuracy")
			}
		})
	}
}

// trainedOn trains two tasks, of which one arrives later, and looks at what is sent.
func trainedOn(t *testing.T, b *backend.Backend, o Options, copies bool) (theta []float32, accuracy float64) {
	t.Helper()
	d := pcltest.Blobs(6, 21, 5) // the last batch of a task is short
	o.Programs = programsOf(b)
	l := smallLearner(t, b, "avggrad", o)
	defer l.Close()
	attach(t, l, blobTask(t, d, 1, 0, 1))
	for step := 0; ; step++ {
		if step == 4 {
			attach(t, l, blobTask(t, d, 2, 2, 3))
		}
		if _, err := l.Step(); errors.Is(err, ErrNoStream) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if task := l.tasks.running.get(1); task != nil && (task.current.Ahead != nil) != copies {
			t.Fatalf("step %d: sent ahead: %v", step, !copies)
		}
	}
	return must.Get(l.Parameters())(t), must.Get(l.Evaluate(1))(t)
}

package pcl

import (
	"errors"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestCopiedBatches: a device of its own memory gets numbers of rows where the samples are rows of a table
// or a memory that stays as it is, else pixels, all of it before it is needed; with the same bits.
func TestCopiedBatches(t *testing.T) {
	b, separate := pcltest.Backend(t, backend.XLACPU), pcltest.Separate(t)
	for name, o := range map[string]Options{"plain": {}, "edited": {Edit: Edit{Eta: 0.01}}, "pixels": {}} {
		t.Run(name, func(t *testing.T) {
			own, accuracy := trainedOn(t, b, o, name == "pixels", false)
			ends, same := trainedOn(t, separate, o, name == "pixels", true)
			if !slices.Equal(own, ends) || accuracy != same {
				t.Error("copied batches end with other parameters or another accuracy")
			}
		})
	}
}

// pixelSamples hides that samples are rows of a table.
type pixelSamples struct{ data.Samples }

// trainedOn trains two tasks, of which one arrives later, and looks at what is sent.
func trainedOn(t *testing.T, b *backend.Backend, o Options, pixels, copies bool) (theta []float32, accuracy float64) {
	t.Helper()
	d := pcltest.Blobs(6, 21, 5) // the last batch of a task is short
	task := func(id int, classes ...int) Task {
		out := blobTask(t, d, id, classes...)
		if pixels {
			var err error
			if out.Stream, err = data.NewStream(pixelSamples{d.Select(&d.Train, 0, classes...)}, 1, 7, id); err != nil {
				t.Fatal(err)
			}
			out.Test = pixelSamples{out.Test}
		}
		return out
	}
	o.Programs = programsOf(b)
	o.Programs.ForgetData() // whose tables are counted
	l := smallLearner(t, b, "avggrad", o)
	defer l.Close()
	attach(t, l, task(1, 0, 1))
	for step := 0; ; step++ {
		if step == 4 {
			attach(t, l, task(2, 2, 3))
		}
		if _, err := l.Step(); errors.Is(err, ErrNoStream) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if at, runs := l.tasks.place(1); runs && l.tasks[at].current.Sent() != copies {
			t.Fatalf("step %d: sent ahead: %v", step, !copies)
		}
	}
	theta, accuracy = must.Get(l.Parameters())(t), must.Get(l.Evaluate(1))(t)
	tables := 0
	if copies && !pixels {
		tables = 2 // training and test
	}
	if n := l.tables.Len(); n != tables {
		t.Errorf("%d tables are on the device, want %d", n, tables)
	}
	if mirrored := l.mirror.Held(); mirrored != (copies && o.Edit.Eta == 0) {
		t.Errorf("the memory is on the device: %v", mirrored)
	}
	return theta, accuracy
}

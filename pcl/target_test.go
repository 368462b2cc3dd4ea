package pcl

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestTargets: with a loss of a task's own outputs, only these compete; in task-incremental mode
// these are the task's anyway, unless the loss lets all outputs that have been seen compete.
func TestTargets(t *testing.T) {
	for name, c := range map[string]struct {
		increment string
		loss      rehearsal.Loss
		lo, hi    int32 // of the outputs that compete for a sample of the second task
	}{
		"class":      {"class", rehearsal.Loss{}, 0, 4},
		"class own":  {"class", rehearsal.Loss{Own: true}, 2, 4},
		"task":       {"task", rehearsal.Loss{}, 2, 4},
		"task seen":  {"task", rehearsal.Loss{Seen: true}, 0, 4},
		"class seen": {"class", rehearsal.Loss{Seen: true}, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{Increment: c.increment})
			d := pcltest.Blobs(4, 24, 5)
			attach(t, l, blobTask(t, d, 1, 0, 1))
			attach(t, l, blobTask(t, d, 2, 2, 3))
			b := runningTask(l, 2).current
			must.Do(t, l.targets().outputs(b, c.loss))
			rows := len(b.Class)
			for i := range b.N {
				if lo, hi := b.Targets[i], b.Targets[rows+i]; lo != c.lo || hi != c.hi {
					t.Errorf("sample %d: outputs %d to %d compete; want %d to %d", i, lo, hi, c.lo, c.hi)
				}
				if want := int32(b.Class[i]); b.Output[i] != want {
					t.Errorf("sample %d of class %d has output %d; want %d", i, b.Class[i], b.Output[i], want)
				}
			}
			b.Class[0] = 0 // which is of the first task
			refused(t, l.targets().outputs(b, c.loss), "a sample of class 0 for task 2")
		})
	}
}

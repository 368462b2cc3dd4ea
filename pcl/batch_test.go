package pcl

import (
	"errors"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// copying is a backend whose device does not read the host's memory, as a GPU's.
type copying struct{ compute.Backend }

func (copying) HasSharedBuffers() bool { return false }

// TestCopiedBatches: what is sent ahead to a device of its own memory gives the same bits.
func TestCopiedBatches(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(6, 21, 5) // the last batch of a task is short
		var ends [2][]float32
		for i, on := range []*backend.Backend{b, {Backend: copying{b.Backend}, Info: b.Info}} {
			l := smallLearner(t, on, "avggrad", Options{})
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
				if ahead := l.tasks[0].current != nil && l.tasks[0].current.ahead != nil; ahead != (i == 1) && !l.tasks[0].ended {
					t.Fatalf("step %d: sent ahead: %v", step, ahead)
				}
			}
			var err error
			if ends[i], err = l.Parameters(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(ends[0], ends[1]) {
			t.Error("copied batches end with other parameters")
		}
	})
}

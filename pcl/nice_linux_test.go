package pcl

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestNice: training on threads of low priority has the bits of training on others, and the hooks
// are called on such a thread. The caller's keeps its priority.
func TestNice(t *testing.T) {
	usual := pcltest.Clients(t, 2)
	low := must.Get(backend.Open(t.Context(), backend.Options{Name: backend.XLACPU, Clients: 2, Nice: 3}))(t)
	defer low.Close()
	priority := func() int { return must.Get(unix.Getpriority(unix.PRIO_PROCESS, 0))(t) }
	before := priority()
	trained := func(b *backend.Backend, want int) []float32 {
		l := must.Get(New(t.Context(), completed(t, b, "emgd", Options{})))(t)
		defer l.Close()
		for id := range 2 {
			attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), id, 2*id, 2*id+1))
		}
		must.Do(t, l.Run(t.Context(), Hooks{OnStep: func(*StepReport) error {
			if got := priority(); got != want {
				t.Errorf("a hook is called at %d, want %d (20 less the value of nice)", got, want)
			}
			return nil
		}}))
		return must.Get(l.network.parameters())(t)
	}
	if theta := trained(usual, before); !slices.Equal(trained(low, max(before-3, 1)), theta) {
		t.Error("other parameters on threads of low priority")
	}
	if got := priority(); got != before {
		t.Errorf("the caller's thread has %d, want %d", got, before)
	}
}

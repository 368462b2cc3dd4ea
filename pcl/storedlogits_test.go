package pcl

import (
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestStoredLogits follows the logits in the memory over the ends of three tasks. The logits of
// der-pp stay as they were stored. x-der does the same until outputs are new, and then adds the
// present logits of these; refresh takes all present logits.
func TestStoredLogits(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"avggrad+der-pp", "avggrad+der-pp+x-der", "avggrad+der-pp+refresh"} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, b, name, Options{Increment: "class"})
			ended, before, extended := 0, map[int][]float32{}, 0
			timeline(t, l, func(r *StepReport) {
				now := must.Get(l.context().Logits(rehearsal.Current, stored(l.context())))(t)
				for i, it := range stored(l.context()) {
					old, known := before[i]
					want := old
					switch {
					case len(r.Ended) > 0 && (!known || name == "avggrad+der-pp+refresh"):
						want = now[i]
					case len(r.Ended) > 0 && name == "avggrad+der-pp+x-der" && len(now[i]) > len(old):
						want = slices.Clone(it.Logits)
						copy(want, old)
						newer := it.Logits[len(old):]
						factor := newer[0] / now[i][len(old)]
						for k, x := range newer {
							if d := x - factor*now[i][len(old)+k]; d > 1e-6 || d < -1e-6 {
								t.Errorf("sample %d: new logits %v are no multiple of the present %v",
									i, newer, now[i][len(old):])
							}
						}
						right := old[must.Get(l.context().Output(it.Task, it.Class))(t)]
						if factor > 1+1e-6 || factor < 1-1e-6 && slices.Max(newer) > 0.85*max(right, 0)+1e-6 {
							t.Errorf("sample %d: new logits %v are %g of the present ones, for a right class at %g",
								i, newer, factor, right)
						}
						extended++
					}
					if len(r.Ended) == 0 && !slices.Equal(it.Logits, old) || !slices.EqualFunc(it.Logits, want, near32) {
						t.Errorf("step %d, sample %d: logits %v, want %v", r.Step, i, it.Logits, want)
					}
					before[i] = it.Logits
				}
				ended += len(r.Ended)
			})
			pcltest.Equal(t, "tasks that ended", ended, 3)
			pcltest.Equal(t, "samples in the memory", len(before), 18)
			pcltest.Equal(t, "logits were extended", extended > 0, name == "avggrad+der-pp+x-der")
		})
	}
}

// near32 compares logits that were computed beside other samples.
func near32(a, b float32) bool { return max(a-b, b-a) < 1e-5 }

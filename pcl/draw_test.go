package pcl

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// ownDraw is a part that draws what it is told to once the memory has samples.
type ownDraw struct {
	indices func(ctx rehearsal.ReplayContext) []int
}

func (d *ownDraw) Join(r *rehearsal.Rehearsal) error {
	r.Draw = func(ctx rehearsal.ReplayContext) ([]int, error) {
		if ctx.Memory().Len() == 0 {
			return nil, nil
		}
		return d.indices(ctx), nil
	}
	return nil
}

// TestWrongDraw: indices that the memory does not have, and more than a batch of them, are an error
// of the step. Repeats are not.
func TestWrongDraw(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for name, c := range map[string]struct {
		indices func(ctx rehearsal.ReplayContext) []int
		want    string // "" for no error
	}{
		"too large": {func(rehearsal.ReplayContext) []int { return []int{0, 9999} }, "returned index 9999; the memory has "},
		"length":    {func(ctx rehearsal.ReplayContext) []int { return []int{ctx.Memory().Len()} }, "; the memory has "},
		"negative":  {func(rehearsal.ReplayContext) []int { return []int{-1} }, "returned index -1; the memory has "},
		"too many": {func(ctx rehearsal.ReplayContext) []int {
			return make([]int, ctx.Batch()+1)
		}, " indices; want at most the batch of "},
		"repeats": {func(ctx rehearsal.ReplayContext) []int { return make([]int, ctx.Batch()) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, b, "", Options{Method: method.Compose(&method.AvgGrad{}, &ownDraw{c.indices})})
			d := pcltest.Blobs(4, 24, 5)
			first := attach(t, l, blobTask(t, d, 1, 0, 1))
			steps(t, l, 2)
			if err := l.Detach(first, true); err != nil {
				t.Fatal(err)
			}
			attach(t, l, blobTask(t, d, 2, 2, 3))
			_, err := l.Step()
			if c.want == "" {
				must.Do(t, err)
				return
			}
			refused(t, err, c.want)
		})
	}
}

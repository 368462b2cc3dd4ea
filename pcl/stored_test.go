package pcl

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// curator stores what spoil makes of a task's first candidate.
type curator struct {
	method.Method
	spoil func(*memory.Item)
}

func (curator) Pool(quota int) int { return quota }

func (c curator) Curate(ctx rehearsal.Context, _ int, candidates []memory.Item) error {
	c.spoil(&candidates[0])
	ctx.Memory().Add(candidates[:1])
	return nil
}

// TestStoredSamples: a sample that cannot be trained on is an error of the step that replays it.
func TestStoredSamples(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for name, c := range map[string]struct {
		spoil func(*memory.Item)
		want  string
	}{
		"length": {func(it *memory.Item) { it.Pixels = it.Pixels[:3] }, "a stored sample has 3 values; want 64"},
		"task":   {func(it *memory.Item) { it.Task, it.Class = 77, 0 }, "a sample of class 0 for task 77"},
		"class":  {func(it *memory.Item) { it.Class = 3 }, "a sample of class 3 for task 1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, b, "", Options{Method: curator{newMethod(t, "avggrad", nil), c.spoil}})
			attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
			must.Get(l.Step())(t)
			must.Do(t, l.Detach(1, true))
			attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 2, 2, 3))
			refused(t, second(l.Step()), c.want)
		})
	}
}

package pcl

import (
	"errors"
	"slices"
	"testing"

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

func (c curator) Curate(lab rehearsal.Lab, _ int, candidates []memory.Item) error {
	c.spoil(&candidates[0])
	lab.Memory().Add(candidates[:1])
	return nil
}

// TestStoredSamples: a sample that cannot be trained on is refused when a method stores it, and the message names the
// method.
func TestStoredSamples(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, spoil := range []func(*memory.Item){
		func(it *memory.Item) { it.Pixels = it.Pixels[:3] },
		func(it *memory.Item) { it.Logits = make([]float32, 100) },
		func(it *memory.Item) { it.Task, it.Class = 77, 0 },
		func(it *memory.Item) { it.Class = 3 },
	} {
		l := smallLearner(t, b, "", Options{Method: curator{newMethod(t, "avggrad", nil), spoil}})
		attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
		must[*StepReport](t)(l.Step())
		err := l.Detach(1, true)
		refused(t, err)
	}
}

// TestFailedStepRestoresTheMemory: whatever a method did to the memory before it failed is undone.
func TestFailedStepRestoresTheMemory(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	m := replayer{Method: newMethod(t, "avggrad", nil)}
	m.choose = func(lab rehearsal.ReplayLab) ([]rehearsal.Replay, error) { return nil, nil }
	l := trained(t, b, &m, Options{})
	before := l.memory.Items(allOf(l.memory))
	m.choose = func(lab rehearsal.ReplayLab) ([]rehearsal.Replay, error) {
		s := lab.Memory()
		s.SetScore(1, 3)
		s.SetLogits(0, []float32{1, 2})
		s.Put(s.Item(0))
		s.Replace(2, s.Item(3))
		s.SetLogits(1, []float32{4, 5})
		s.Add([]memory.Item{{Task: 1, Class: 0, Pixels: s.Item(0).Pixels}})
		s.Edit(0, make([]float32, len(s.Item(0).Pixels)))
		return nil, errors.New("no replay")
	}
	_, err := l.Step()
	refused(t, err)
	same := func(a, b memory.Item) bool {
		return a.Class == b.Class && a.Score == b.Score && a.Edits == b.Edits && slices.Equal(a.Logits, b.Logits) && slices.Equal(a.Pixels, b.Pixels)
	}
	if after := l.memory.Items(allOf(l.memory)); !slices.EqualFunc(before, after, same) {
		t.Errorf("the memory was %v and is %v", before, after)
	}
}

func allOf(s *memory.Store) (all []int) {
	for i := range s.Len() {
		all = append(all, i)
	}
	return all
}

package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// retire ends a task. If keep is true, the samples in its reservoir enter the memory.
func retire(c methodContext, t *attached, keep bool) error {
	c.tasks.end(t)
	if keep {
		if err := remember(c, t.id, t.reservoir); err != nil {
			return fmt.Errorf("%s: %w", label(t.id, t.Name), err)
		}
	}
	t.free()
	if s := c.method.Stateful; s != nil {
		s.End(t.id)
	}
	return nil
}

// remember puts the samples of a task that has ended into the memory. A method that curates the
// memory decides which ones, and it may learn more from them.
func remember(c methodContext, id int, collected *memory.Reservoir) error {
	candidates := collected.Items()
	if c.method.Storer != nil {
		candidates = nil // the memory is filled already
	}
	if curator := c.method.Curator; curator != nil {
		if err := curator.Curate(c, id, candidates); err != nil {
			return err
		}
	} else {
		c.memory.Add(candidates)
	}
	if p := c.method.Penalty; p != nil {
		// The reservoir may have more samples of each class than the penalty asks for: those for
		// the memory.
		return p.Consolidate(c, id, collected.Draw(p.Samples()))
	}
	return nil
}

// candidates returns how many samples of each class are collected while a task runs, for a memory
// that takes quota of them. It is 0 if the method fills the memory itself and no penalty wants
// samples.
func candidates(m *method.Started, quota int) int {
	wanted := 0
	if p := m.Penalty; p != nil {
		wanted = p.Samples()
	}
	if m.Storer != nil {
		return wanted
	}
	if c := m.Curator; c != nil && quota > 0 {
		quota = c.Pool(quota)
	}
	return max(quota, wanted)
}

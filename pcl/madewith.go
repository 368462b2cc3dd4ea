package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// madeWith has those options of a learner with which a saved state means something else.
type madeWith struct {
	Increment scenario.Increment `json:"increment"`
	Shared    SharedParams       `json:"shared"`
	Optimizer string             `json:"optimizer"` // its key: the learning rate may differ
	Loss      string             `json:"loss,omitempty"`
	Weighted  bool               `json:"weighted,omitempty"`
}

func (o Options) madeWith() *madeWith {
	return &madeWith{Increment: o.Increment, Shared: o.Shared, Optimizer: o.Optimizer.Key(), Loss: o.lossKey(), Weighted: o.Weighted}
}

// differs returns an error that names the first option in which a learner differs from the one that was saved.
func (m *madeWith) differs(from *madeWith) error {
	for _, o := range []struct {
		name     string
		was, now any
	}{
		{"Increment", m.Increment, from.Increment}, {"Shared", m.Shared, from.Shared}, {"Optimizer", m.Optimizer, from.Optimizer},
		{"Loss", m.Loss, from.Loss}, {"Weighted", m.Weighted, from.Weighted},
	} {
		if o.was != o.now {
			return fmt.Errorf("it was saved by a learner with %s %q, this one has %q: make the learner with the same options", o.name, fmt.Sprint(o.was), fmt.Sprint(o.now))
		}
	}
	return nil
}

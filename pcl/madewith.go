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
	Model     string             `json:"model,omitempty"` // its key; absent in old files
}

func (o Options) madeWith() *madeWith {
	return &madeWith{Increment: o.Increment, Shared: o.Shared, Optimizer: o.Optimizer.Key(), Loss: o.lossKey(), Weighted: o.Weighted, Model: o.Model.Key()}
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
		if err := differ(o.name, o.was, o.now); err != nil {
			return err
		}
	}
	if m.Model == "" {
		return nil
	}
	return differ("Model", m.Model, from.Model)
}

// differ returns an error if an option is not what it was.
func differ(name string, was, now any) error {
	if was == now {
		return nil
	}
	return fmt.Errorf("it was saved by a learner with %s %q, this one has %q: make the learner with the same options", name, fmt.Sprint(was), fmt.Sprint(now))
}

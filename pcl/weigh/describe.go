package weigh

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/method"
)

// LeavesOut names what a rule does in a learner besides weights, and does not do here: its own
// loss, its choice of samples for the memory, its rule of prediction, its penalty, its training
// when it is evaluated, or its products of two halves of each batch, for which those of the whole
// batches stand.
func (r *Rule) LeavesOut() []string {
	more, m := []string{}, r.method
	for _, part := range []struct {
		left bool
		what string
	}{
		{m.Objective != nil, "its own loss"},
		{m.Replayer != nil || m.Curator != nil || m.Storer != nil, "its choice of samples for the memory"},
		{m.Predictor != nil, "its rule of prediction"},
		{m.Penalty != nil, "its penalty on the parameters"},
		{m.Idler != nil, "its training when it is evaluated"},
		{m.Needs.Cross, "its products of two halves of each batch"},
	} {
		if part.left {
			more = append(more, part.what)
		}
	}
	return more
}

// description is what Describe writes.
type description struct {
	method.Description
	Follows   bool     `json:"follows"`
	LeavesOut []string `json:"leaves_out"`
}

// Describe returns the method's Info, its parameters, whether it learns from the losses after a
// step, and what it leaves out, as JSON.
func (r *Rule) Describe() ([]byte, error) {
	d, err := method.Lookup(r.method.Info.Name)
	if err != nil {
		return nil, err
	}
	d.Info, d.Needs = r.method.Info, r.method.Needs // which its parameters may change
	return json.Marshal(description{d, r.Follows(), r.LeavesOut()})
}

// Names returns the names of all methods as a JSON list.
func Names() string {
	text, _ := json.Marshal(method.Names()) // texts are always JSON
	return string(text)
}

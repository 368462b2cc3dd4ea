package weigh

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// LeavesOut names what a rule does in a learner besides weights, and does not do here: its own loss, its choice of
// samples for the memory, its rule of prediction, its penalty, its training when it is evaluated, or its products of two
// halves of each batch, for which those of the whole batches stand.
func (r *Rule) LeavesOut() []string {
	more := []string{}
	for _, part := range []struct {
		left bool
		what string
	}{
		{has[rehearsal.Objective](r), "its own loss"},
		{has[rehearsal.Replayer](r) || has[rehearsal.Curator](r) || has[rehearsal.Storer](r), "its choice of samples for the memory"},
		{has[rehearsal.Predictor](r), "its rule of prediction"},
		{has[rehearsal.Penalty](r), "its penalty on the parameters"},
		{has[method.Idler](r), "its training when it is evaluated"},
		{r.info.NeedsCross, "its products of two halves of each batch"},
	} {
		if part.left {
			more = append(more, part.what)
		}
	}
	return more
}

func has[T any](r *Rule) bool {
	_, ok := method.As[T](r.method)
	return ok
}

// description is what Describe writes.
type description struct {
	method.Description
	Follows   bool     `json:"follows"`
	LeavesOut []string `json:"leaves_out"`
}

// Describe returns the method's Info, its parameters, whether it learns from the losses after a step, and what it
// leaves out, as JSON.
func (r *Rule) Describe() ([]byte, error) {
	d, err := method.Lookup(r.info.Name)
	if err != nil {
		return nil, err
	}
	d.Info = r.info // which its parameters may change
	return json.Marshal(description{d, r.Follows(), r.LeavesOut()})
}

// Names returns the names of all methods as a JSON list.
func Names() string {
	text, _ := json.Marshal(method.Names()) // texts are always JSON
	return string(text)
}

package experiment

import (
	"math"

	"github.com/parallelcl/parallelcl/pcl"
)

// trouble counts what was not finite in the steps of a run, and notes whether the run still learns.
type trouble struct {
	Skipped  int `json:"skipped"`            // how many rows were left out
	Rejected int `json:"rejected,omitempty"` // how many steps were rejected
	// Stuck is the first of the latest steps in which no row could be used. It is nil if the last step used a row.
	Stuck *int `json:"stuck,omitempty"`
}

// observe takes in a step's report.
func (t *trouble) observe(s *pcl.StepReport) {
	t.Skipped += len(s.Skipped)
	if s.Rejected {
		t.Skipped += len(s.IDs)
		t.Rejected++
	}
	switch {
	case len(s.IDs) > 0 && !s.Rejected:
		t.Stuck = nil
	case t.Stuck == nil && (s.Rejected || len(s.Skipped) > 0): // otherwise the method skipped the step on purpose
		step := s.Step
		t.Stuck = &step
	}
}

// divergedAt returns the step from which on the run learnt nothing any more, or nil if it learnt until its end. If
// the final parameters theta are not finite and no earlier step was noticed, it is the last step, since a later step
// would have noticed them.
func (t *trouble) divergedAt(steps int, theta []float32) *int {
	if t.Stuck != nil {
		return t.Stuck
	}
	for _, x := range theta {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			last := steps - 1
			return &last
		}
	}
	return nil
}

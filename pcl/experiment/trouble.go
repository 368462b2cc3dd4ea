package experiment

import (
	"math"

	"github.com/parallelcl/parallelcl/pcl"
)

// trouble is what was not finite in a run's steps, and whether the run still learns.
type trouble struct {
	Skipped  int `json:"skipped"`            // rows
	Rejected int `json:"rejected,omitempty"` // steps
	// Stuck is the first step of those, up to the last one made, in which no row took part; nil if some took
	// part in the last one.
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
	case t.Stuck == nil && (s.Rejected || len(s.Skipped) > 0): // else the method sits the step out
		step := s.Step
		t.Stuck = &step
	}
}

// divergedAt is the step from which on the run learnt nothing any more, nil if it learnt to its end. Parameters
// that are not finite come from the last step if no earlier one was noticed: nothing after it looked at them.
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

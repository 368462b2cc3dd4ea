package experiment

import (
	"math"
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// runState is what has been measured of the run so far. It is saved with each checkpoint.
type runState struct {
	Tasks []results.Task  `json:"tasks"`
	Curve []results.Point `json:"curve"`
	PerK  []results.KStat `json:"per_k"`
	divergence
	Records  int64            `json:"records"` // length of the record file
	Measured results.Measured `json:"measured"`
	Steady   steadySteps      `json:"steady"`
	Due      *evaluation      `json:"due,omitempty"` // was interrupted
}

// evaluation is one that belongs to a step.
type evaluation struct {
	Step  int   `json:"step"`
	Ended []int `json:"ended"` // the tasks that ended with the step
}

// observe adds a step's report.
func (s *runState) observe(step *pcl.StepReport) {
	s.divergence.observe(step)
	for i, id := range step.IDs {
		if id <= method.MemoryID {
			continue
		}
		t := &s.Tasks[id-1]
		if step.Step == t.Start {
			t.LossFirst = step.Losses[i]
		}
		t.LossLast = step.Losses[i]
	}
	s.countStreams(step)
}

// countStreams counts the rows that the rule saw and adds up the weights that it gave them.
func (s *runState) countStreams(step *pcl.StepReport) {
	k, weights := len(step.IDs), step.Weights
	if j := step.Outcome.Summed; j != nil {
		k, weights = len(j.IDs), j.Weights
	}
	if k == 0 || step.Rejected {
		return
	}
	for len(s.PerK) < k {
		s.PerK = append(s.PerK, results.KStat{K: len(s.PerK) + 1})
	}
	stat := &s.PerK[k-1]
	stat.Steps++
	total := 0.0
	for _, w := range weights {
		total += w
	}
	stat.SumW.Add(total)
	stat.NormD.Add(step.NormD)
}

// divergence counts rows, samples and steps of a run that were left out because they were not
// finite, and notes whether the run still learns.
type divergence struct {
	Skipped  int `json:"skipped"`            // how many rows were left out
	Samples  int `json:"samples,omitempty"`  // how many samples were left out of rows that took part
	Rejected int `json:"rejected,omitempty"` // how many steps were rejected
	// Stuck is the first of the latest steps in which no row could be used. It is nil if the last
	// step used a row.
	Stuck *int `json:"stuck,omitempty"`
}

// observe takes in a step's report.
func (t *divergence) observe(s *pcl.StepReport) {
	t.Skipped += len(s.Skipped)
	for _, n := range s.LeftOut {
		t.Samples += n
	}
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

// divergedAt returns the step from which on the run learnt nothing any more, or nil if it learnt
// until its end. If the final parameters theta are not finite and no earlier step was noticed, it
// is the last step, since a later step would have noticed them.
func (t *divergence) divergedAt(steps int, theta []float32) *int {
	if t.Stuck == nil && slices.ContainsFunc(theta, func(x float32) bool {
		return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0)
	}) {
		last := steps - 1
		return &last
	}
	return t.Stuck
}

// steadySteps counts the steps for which nothing was compiled, and their time.
type steadySteps struct {
	Steps    int     `json:"steps"`
	Seconds  float64 `json:"seconds"`
	compiled int     // how many programs the learner had after the last step
}

// add takes note of a step after which the learner had the given number of compiled programs.
func (s *steadySteps) add(took time.Duration, compiled int) {
	if compiled == s.compiled {
		s.Steps++
		s.Seconds += took.Seconds()
	}
	s.compiled = compiled
}

// millis is the mean time of those steps; ok is false if there was none.
func (s *steadySteps) millis() (ms float64, ok bool) {
	return 1000 * s.Seconds / float64(max(1, s.Steps)), s.Steps > 0
}

// evaluate measures the accuracy on every task that has started. If it is interrupted, the
// evaluation stays due.
func (r *runner) evaluate(s *evaluation) error {
	began := time.Now()
	r.state.Due = s
	point := results.Point{Step: s.Step, Ended: s.Ended, Acc: make([]*float64, len(r.state.Tasks))}
	arrived := r.learner.LastID()
	if r.config.joint() {
		arrived, point.Ended = len(r.state.Tasks), nil
		if len(s.Ended) > 0 {
			point.Ended = r.ids()
		}
	}
	for i := range arrived {
		if err := r.mayGoOn(); err != nil {
			return err
		}
		counts, err := r.counts(i + 1)
		if err != nil {
			return err
		}
		acc := noteAccuracies(&r.state.Tasks[i], counts, s.Step)
		point.Acc[i] = &acc
		point.Mean += acc / float64(arrived)
	}
	r.state.Curve, r.state.Due = append(r.state.Curve, point), nil
	r.state.Measured.EvalSeconds += time.Since(began).Seconds()
	return nil
}

// noteAccuracies keeps the accuracies of a task and of its classes after a step, and returns the
// task's.
func noteAccuracies(t *results.Task, counts []pcl.ClassCount, step int) float64 {
	right, n := 0, 0
	for _, c := range counts {
		right, n = right+c.Right, n+c.Test
	}
	t.AccFinal = float64(right) / float64(n)
	if step == t.End {
		t.AccEnd = t.AccFinal
	}
	if t.ByClass == nil {
		t.ByClass = make([]results.Class, len(counts))
	}
	for i := range t.ByClass {
		c, class := counts[i], &t.ByClass[i]
		class.Class, class.Test, class.AccFinal = c.Class, c.Test, float64(c.Right)/float64(max(1, c.Test))
		if step == t.End {
			class.AccEnd = class.AccFinal
		}
	}
	return t.AccFinal
}

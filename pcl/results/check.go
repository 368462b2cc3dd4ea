package results

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/internal/fail"
)

// rounding is how much two percentages that should be equal may differ: files of rows keep three digits.
const rounding = 1e-3

// Check returns an error if a number is out of range or contradicts another one. [Load] and [Run.Save] call it. Accuracies that
// the run lacks are not required.
func (r *Run) Check() (err error) {
	defer fail.Caught(&err)
	within("A", r.A, 0, 100)
	within("F", r.F, -100, 100)
	within("A_first", r.AFirst, 0, 100)
	same("F", r.F, "A - A_first", r.A-r.AFirst)
	fail.When(min(r.Steps, r.Skipped, r.SkippedSamples, r.Rejected) < 0, "steps is %d, skipped_rows %d, skipped_samples %d and rejected_steps %d; want 0 or more",
		r.Steps, r.Skipped, r.SkippedSamples, r.Rejected)
	if at := r.DivergedAt; at != nil {
		fail.When(*at < 0 || *at >= r.Span(), "diverged_at is %d; want a step of the run's %d", *at, r.Span())
	}
	r.checkCurve()
	r.checkTasks()
	return nil
}

// within refuses NaN too. Its ends have room for rounding, which a mean of ones needs.
func within(name string, x, low, high float64) {
	fail.When(!(x >= low-1e-9 && x <= high+1e-9), "%s is %g; want %g to %g", name, x, low, high)
}

func same(name string, x float64, other string, y float64) {
	fail.When(!(math.Abs(x-y) <= rounding), "%s is %g, and %s %g: the file was altered", name, x, other, y)
}

// checkCurve checks the evaluations, the last of which is the run's result.
func (r *Run) checkCurve() {
	last := -1
	for _, p := range r.Curve {
		name := fmt.Sprintf("the evaluation at step %d", p.Step)
		fail.When(p.Step <= last, "%s comes after that at step %d", name, last)
		fail.When(len(p.Acc) > len(r.Tasks), "%s is of %d tasks; the run has %d", name, len(p.Acc), len(r.Tasks))
		within("mean of "+name, p.Mean, 0, 1)
		for _, acc := range p.Acc {
			if acc != nil {
				within("acc of "+name, *acc, 0, 1)
			}
		}
		last = p.Step
	}
	if last >= 0 {
		same("A", r.A, "the mean of the last evaluation", 100*r.Curve[len(r.Curve)-1].Mean)
	}
}

// checkTasks checks the tasks, and that A follows from them.
func (r *Run) checkTasks() {
	var final Moment
	for i, t := range r.Tasks {
		name := fmt.Sprintf("task %d", t.ID)
		fail.When(t.ID != i+1, "%s is in the place of task %d", name, i+1)
		fail.When(t.Start < 0 || t.End < t.Start, "%s starts at step %d and ends at step %d", name, t.Start, t.End)
		within("acc_end of "+name, t.AccEnd, 0, 1)
		within("acc_final of "+name, t.AccFinal, 0, 1)
		final.Add(100 * t.AccFinal)
	}
	if final.N > 0 {
		same("A", r.A, "the mean of acc_final", final.Mean)
	}
}

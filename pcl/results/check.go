package results

import (
	"cmp"
	"fmt"
	"math"
)

// rounding is how much two percentages that should be equal may differ: files of rows keep three
// digits.
const rounding = 1e-3

// Check returns an error if a number is out of range or contradicts another one. [Load] and
// [Run.Save] call it. Accuracies that the run lacks are not required.
func (r *Run) Check() error {
	err := cmp.Or(
		within("A", r.A, 0, 100), within("F", r.F, -100, 100), within("A_first", r.AFirst, 0, 100),
		same("F", r.F, "A - A_first", r.A-r.AFirst))
	if err != nil {
		return err
	}
	if min(r.Steps, r.Skipped, r.SkippedSamples, r.Rejected) < 0 {
		return fmt.Errorf("steps is %d, skipped_rows %d, skipped_samples %d and rejected_steps %d; want 0 or more",
			r.Steps, r.Skipped, r.SkippedSamples, r.Rejected)
	}
	if at := r.DivergedAt; at != nil && (*at < 0 || *at >= r.Span()) {
		return fmt.Errorf("diverged_at is %d; want a step of the run's %d", *at, r.Span())
	}
	if err := r.checkCurve(); err != nil {
		return err
	}
	return r.checkTasks()
}

// within refuses NaN too. Its ends have room for rounding, which a mean of ones needs.
func within(name string, x, low, high float64) error {
	if !(x >= low-1e-9 && x <= high+1e-9) {
		return fmt.Errorf("%s is %g; want %g to %g", name, x, low, high)
	}
	return nil
}

func same(name string, x float64, other string, y float64) error {
	if !(math.Abs(x-y) <= rounding) {
		return fmt.Errorf("%s is %g, and %s %g: the file was altered", name, x, other, y)
	}
	return nil
}

// checkCurve checks the evaluations, the last of which is the run's result.
func (r *Run) checkCurve() error {
	last := -1
	for _, p := range r.Curve {
		name := fmt.Sprintf("the evaluation at step %d", p.Step)
		if p.Step <= last {
			return fmt.Errorf("%s comes after that at step %d", name, last)
		}
		if len(p.Acc) > len(r.Tasks) {
			return fmt.Errorf("%s is of %d tasks; the run has %d", name, len(p.Acc), len(r.Tasks))
		}
		err := within("mean of "+name, p.Mean, 0, 1)
		for _, acc := range p.Acc {
			if acc != nil {
				err = cmp.Or(err, within("acc of "+name, *acc, 0, 1))
			}
		}
		if err != nil {
			return err
		}
		last = p.Step
	}
	if last < 0 {
		return nil
	}
	return same("A", r.A, "the mean of the last evaluation", 100*r.Curve[len(r.Curve)-1].Mean)
}

// checkTasks checks the tasks, and that A follows from them.
func (r *Run) checkTasks() error {
	var final Moment
	for i, t := range r.Tasks {
		name := fmt.Sprintf("task %d", t.ID)
		if t.ID != i+1 {
			return fmt.Errorf("%s is in the place of task %d", name, i+1)
		}
		if t.Start < 0 || t.End < t.Start {
			return fmt.Errorf("%s starts at step %d and ends at step %d", name, t.Start, t.End)
		}
		end, last := within("acc_end of "+name, t.AccEnd, 0, 1), within("acc_final of "+name, t.AccFinal, 0, 1)
		if err := cmp.Or(end, last); err != nil {
			return err
		}
		final.Add(100 * t.AccFinal)
	}
	if final.N == 0 {
		return nil
	}
	return same("A", r.A, "the mean of acc_final", final.Mean)
}

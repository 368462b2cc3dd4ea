package results

import (
	"fmt"
	"math"
)

// rounding is how much two percentages that should be equal may differ: files of rows keep three digits.
const rounding = 1e-3

// Check returns an error if a number is out of range or contradicts another one. [Load] and [Run.Save] call it. Accuracies that
// the run lacks are not required.
func (r *Run) Check() error {
	var c checker
	c.within("A", r.A, 0, 100)
	c.within("F", r.F, -100, 100)
	c.within("A_first", r.AFirst, 0, 100)
	c.same("F", r.F, "A - A_first", r.A-r.AFirst)
	c.refuse(r.Steps < 0 || r.Skipped < 0, "steps is %d and skipped_rows %d; want 0 or more", r.Steps, r.Skipped)
	if at := r.DivergedAt; at != nil {
		c.refuse(*at < 0 || *at >= r.Span(), "diverged_at is %d; want a step of the run's %d", *at, r.Span())
	}
	c.curve(r)
	c.tasks(r)
	return c.err
}

// checker keeps the first thing that is wrong.
type checker struct{ err error }

func (c *checker) refuse(wrong bool, format string, args ...any) {
	if wrong && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// within refuses NaN too. Its ends have room for rounding, which a mean of ones needs.
func (c *checker) within(name string, x, low, high float64) {
	c.refuse(!(x >= low-1e-9 && x <= high+1e-9), "%s is %g; want %g to %g", name, x, low, high)
}

func (c *checker) same(name string, x float64, other string, y float64) {
	c.refuse(!(math.Abs(x-y) <= rounding), "%s is %g, and %s %g: the file was altered", name, x, other, y)
}

// curve checks the evaluations, the last of which is the run's result.
func (c *checker) curve(r *Run) {
	last := -1
	for _, p := range r.Curve {
		name := fmt.Sprintf("the evaluation at step %d", p.Step)
		c.refuse(p.Step <= last, "%s comes after that at step %d", name, last)
		c.refuse(len(p.Acc) > len(r.Tasks), "%s is of %d tasks; the run has %d", name, len(p.Acc), len(r.Tasks))
		c.within("mean of "+name, p.Mean, 0, 1)
		for _, acc := range p.Acc {
			if acc != nil {
				c.within("acc of "+name, *acc, 0, 1)
			}
		}
		last = p.Step
	}
	if last >= 0 {
		c.same("A", r.A, "the mean of the last evaluation", 100*r.Curve[len(r.Curve)-1].Mean)
	}
}

// tasks checks the tasks, and that A follows from them.
func (c *checker) tasks(r *Run) {
	var final Moment
	for i, t := range r.Tasks {
		name := fmt.Sprintf("task %d", t.ID)
		c.refuse(t.ID != i+1, "%s is in the place of task %d", name, i+1)
		c.refuse(t.Start < 0 || t.End < t.Start, "%s starts at step %d and ends at step %d", name, t.Start, t.End)
		c.within("acc_end of "+name, t.AccEnd, 0, 1)
		c.within("acc_final of "+name, t.AccFinal, 0, 1)
		final.Add(100 * t.AccFinal)
	}
	if final.N > 0 {
		c.same("A", r.A, "the mean of acc_final", final.Mean)
	}
}

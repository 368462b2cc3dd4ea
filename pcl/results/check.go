package results

import (
	"fmt"
	"math"
	"slices"
)

// rounding is how much two percentages that should be equal may differ: files of rows keep three digits.
const rounding = 1e-3

// Check returns an error if a number is out of range or contradicts another one. [Load] and [Run.Save] call it. Accuracies that
// the run lacks are not required.
func (r *Run) Check() error {
	var c checker
	m := r.Measured
	c.within("A", r.A, 0, 100)
	c.within("F", r.F, -100, 100)
	c.within("A_first", r.AFirst, 0, 100)
	c.same("F", r.F, "A - A_first", r.A-r.AFirst)
	c.atLeastZero("steps", float64(r.Steps))
	c.atLeastZero("skipped_rows", float64(r.Skipped))
	c.atLeastZero("rejected_steps", float64(r.Rejected))
	if r.DivergedAt != nil {
		c.within("diverged_at", float64(*r.DivergedAt), 0, float64(r.Span()-1))
	}
	c.atLeastZero("train_seconds", m.TrainSeconds)
	c.atLeastZero("eval_seconds", m.EvalSeconds)
	c.atLeastZero("step_ms", m.StepMillis)
	c.atLeastZero("threads", float64(m.Threads))
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

func (c *checker) atLeastZero(name string, x float64) {
	c.refuse(!(x >= 0), "%s is %g; want 0 or more", name, x)
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
		var mean Moment
		for _, acc := range p.Acc {
			if acc != nil {
				c.within("acc of "+name, *acc, 0, 1)
				mean.Add(100 * *acc)
			}
		}
		if mean.N > 0 {
			c.same("mean of "+name, 100*p.Mean, "that of acc", mean.Mean)
		}
		last = p.Step
	}
	if last >= 0 {
		c.same("A", r.A, "the mean of the last evaluation", 100*r.Curve[len(r.Curve)-1].Mean)
	}
}

// tasks checks that A and A_first follow from the tasks, and these from the evaluations.
func (c *checker) tasks(r *Run) {
	var final, end Moment
	for i, t := range r.Tasks {
		name := fmt.Sprintf("task %d", t.ID)
		c.refuse(t.ID != i+1, "%s is in the place of task %d", name, i+1)
		c.refuse(t.Start < 0 || t.End < t.Start, "%s starts at step %d and ends at step %d", name, t.Start, t.End)
		c.refuse(t.Train < 0 || t.Test < 0, "%s has %d samples to train with and %d to test with", name, t.Train, t.Test)
		for _, class := range append([]Class{{AccEnd: t.AccEnd, AccFinal: t.AccFinal}}, t.ByClass...) {
			c.within("acc_end of "+name, class.AccEnd, 0, 1)
			c.within("acc_final of "+name, class.AccFinal, 0, 1)
		}
		c.task(r, t, name)
		final.Add(100 * t.AccFinal)
		end.Add(100 * t.AccEnd)
	}
	if len(r.Tasks) > 0 {
		c.same("A", r.A, "the mean of acc_final", final.Mean)
		c.same("A_first", r.AFirst, "the mean of acc_end", end.Mean)
	}
}

// task compares a task with the evaluations at its last step and at the run's.
func (c *checker) task(r *Run, t Task, name string) {
	for k, p := range r.Curve {
		c.refuse(slices.Contains(p.Ended, t.ID) && p.Step != t.End, "%s ends at step %d, and not at step %d", name, t.End, p.Step)
		if t.ID > len(p.Acc) || t.ID < 1 || p.Acc[t.ID-1] == nil {
			continue
		}
		acc := 100 * *p.Acc[t.ID-1]
		if p.Step == t.End {
			c.same("acc_end of "+name+" in percent", 100*t.AccEnd, "its accuracy then", acc)
		}
		if k == len(r.Curve)-1 {
			c.same("acc_final of "+name+" in percent", 100*t.AccFinal, "its last accuracy", acc)
		}
	}
}

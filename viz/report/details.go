package report

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/viz"
)

const (
	endNote      = "Percent. Lower numbers: at the task's own end."
	timelineNote = "The timeline of the first run. Where bars lie side by side, a step combines the gradients of these tasks; once a task has ended, its stored samples join in."
)

// details show what the files of runs tell of one data set and increment.
func (s *runSet) details(c *findings.Column) ([]block, error) {
	runs := s.runs(fewer(c)...)
	one := results.OneTimeline(runs)
	out := []block{titled("When the tasks came", timelineNote).of(viz.Timeline(runs[0]))}
	if one {
		out = append(out, titled("Accuracy over time", "The average is over all tasks started so far: it falls when a task arrives. "+barsNote).of(viz.Accuracy(runs...)))
	}
	out = append(out, titled("Accuracy by task", "Look at the length of the stems: a marker below its bar is forgetting, a marker above it later improvement through rehearsal.").of(viz.TaskAccuracy(runs...)))
	if one {
		out = append(out, titled("Accuracy of each task at each task's end", "Look along a row to the right of its frame: falling numbers are forgetting.").of(viz.AccuracyMatrix(runs...)))
	}
	steps, err := s.steps(c)
	return append(append(out, block{Title: "Final accuracy by task, in numbers", Table: s.taskTable(c), Notes: []string{endNote}}, s.classes(c)), steps...), err
}

// taskTable has the final accuracy on each task, and that at the task's own end. Some runs may have more tasks than others.
func (s *runSet) taskTable(c *findings.Column) *table {
	head, n := []string{"method"}, 0
	for _, r := range s.runs(c.Entries...) {
		for n < len(r.Tasks) {
			n++
			head = append(head, fmt.Sprintf("task %d", n))
		}
	}
	return s.accuracies(c, head, func(r *results.Run, t int) (final, end float64, ok bool) {
		if t >= len(r.Tasks) {
			return 0, 0, false
		}
		return r.Tasks[t].AccFinal, r.Tasks[t].AccEnd, true
	})
}

// accuracies has a row for each method, whose columns are means over those of its runs that have the accuracy.
func (s *runSet) accuracies(c *findings.Column, head []string, accuracy func(r *results.Run, column int) (final, end float64, ok bool)) *table {
	out := &table{Head: head}
	for _, e := range c.Entries {
		cells := []datum{{Text: e.Name}}
		for i := range head[1:] {
			var finals, ends []float64
			for _, r := range s.runs(e) {
				if final, end, ok := accuracy(r, i); ok {
					finals, ends = append(finals, 100*final), append(ends, 100*end)
				}
			}
			mean := meanCell(1, finals...)
			mean.Small = meanCell(1, ends...).Text
			cells = append(cells, mean)
		}
		out.add(row{Series: e.Name}, cells...)
	}
	return out
}

// classes has the same by class, a table for each task. There are none if runs differ in their tasks' classes, or are of older
// programs, which did not note what there is to say about a class.
func (s *runSet) classes(c *findings.Column) block {
	b := block{Title: "Final accuracy by class", Folded: true}
	runs := s.runs(c.Entries...)
	first := runs[0].Tasks
	if slices.ContainsFunc(runs, func(r *results.Run) bool { return !slices.EqualFunc(r.Tasks, first, sameClasses) }) {
		return block{}
	}
	for t, task := range first {
		head := []string{"method"}
		for i, class := range task.ByClass {
			head = append(head, fmt.Sprintf("%s (%d test samples)", task.ClassName(i), class.Test))
		}
		b.Parts = append(b.Parts, block{Title: fmt.Sprintf("Task %d", task.ID), Notes: []string{endNote}, Table: s.accuracies(c, head, func(r *results.Run, k int) (final, end float64, ok bool) {
			class := r.Tasks[t].ByClass[k]
			return class.AccFinal, class.AccEnd, true
		})})
	}
	return b
}

// sameClasses reports whether two runs have the same classes in a task, with names and accuracies for each.
func sameClasses(a, b results.Task) bool {
	return slices.Equal(a.Classes, b.Classes) && len(a.Names) == len(a.Classes) && slices.Equal(a.Names, b.Names) &&
		len(a.ByClass) == len(a.Classes) && len(b.ByClass) == len(b.Classes)
}

// steps shows for each method the steps of its first recorded run, and the proofs of all these steps in one table.
func (s *runSet) steps(c *findings.Column) (out []block, err error) {
	proofs := &table{Head: []string{"method", "seed", "steps proved", "lowest slack", "largest Σλ|slack|", "stationary"}}
	for _, e := range c.Entries {
		at := slices.IndexFunc(e.Rows, func(r *rows.Row) bool { return s.files[r].Records != "" })
		if at < 0 {
			continue
		}
		f := s.files[e.Rows[at]]
		records, err := f.ReadRecords()
		if err != nil {
			return nil, err
		}
		title := fmt.Sprintf("Steps of %s, seed %d", e.Name, f.Run.Seed)
		out = append(out, block{Title: title, Folded: true, Parts: stepFigures(records)})
		if p := viz.CheckCertificates(records); p.Steps > 0 {
			class := map[bool]string{true: "good", false: "bad"}[p.Holding == p.Steps]
			rough := func(x float64) string { return fmt.Sprintf("%.0e", x) }
			proofs.add(row{Series: e.Name}, datum{Text: e.Name}, datum{Text: fmt.Sprint(f.Run.Seed)}, datum{Text: fmt.Sprintf("%d of %d", p.Holding, p.Steps), Class: class},
				numberCell(min(0, p.WorstSlack), rough), numberCell(p.WorstGap, rough), datum{Text: fmt.Sprint(p.Stationary)})
		}
	}
	if len(proofs.Rows) > 0 {
		note := "An EMGD step d = Σ λᵢ Jᵢ promises stream i a decrease of at least its share σᵢ: Jᵢ·d ≥ σᵢ‖d‖², with equality where λᵢ > 0. The slacks Jᵢ·d − σᵢ‖d‖² and Σλ|slack|, measured at each step, prove that the weights are the optimal ones. Proved: the share of steps with all slacks ≥ −10⁻⁹ and Σλ|slack| ≤ 10⁻⁹, relative to the size of the terms. Stationary: steps at which no direction decreases every loss, so d = 0."
		out = append([]block{{Title: "Proof of each step", Table: proofs, Notes: []string{note}}}, out...)
	}
	return out, nil
}

// stepFigures draws what the records have; the last lacks the rows if the run diverged.
func stepFigures(records []results.Record) (out []block) {
	if viz.CheckCertificates(records).Steps > 0 {
		out = append(out, titled("What each stream gains beyond its share", "Look at the lower panel first: points near 10⁻¹⁶, the rounding of float64, mean that each step is exact. In the upper one a stream at 0 binds; one above it descends by itself.").of(viz.Certificates(records)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Weights) > 0 }) {
		out = append(out, titled("What each stream weighs").of(viz.StreamWeights(records)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Gram) > 0 }) {
		out = append(out, titled("Which streams conflict", "A cosine below 0 is a conflict.").of(viz.Conflicts(records)))
	}
	return out
}

package report

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/viz"
)

// details show what the files of runs tell of one data set and increment.
func (s *runSet) details(c *rows.Column) ([]block, error) {
	runs := s.runs(fewer(c)...)
	out := []block{titled("When the tasks came",
		"The timeline of the first run. Where bars lie side by side, a step combines the gradients of these tasks; once a "+
			"task has ended, the samples that were stored of it join in, if the method keeps any.").of(viz.Timeline(runs[0]))}
	if results.OneTimeline(runs) {
		accuracy := titled("Accuracy over time",
			"The average is over all tasks started so far: it falls when a task arrives. "+barsNote).of(viz.Accuracy(runs...))
		accuracy.Opens = true
		out = append(out, accuracy, titled("Accuracy of each task at each task's end",
			"Look along a row to the right of its frame: falling numbers are forgetting.").of(viz.AccuracyMatrix(runs...)))
	}
	out = append(out, titled("Accuracy by task",
		"Look at the length of the stems: a marker below its bar is forgetting, a marker above it later improvement "+
			"through rehearsal.").of(viz.TaskAccuracy(runs...)))
	steps, err := s.steps(c)
	return append(append(out, s.classes(c)), steps...), err
}

// steps shows for each method the steps of its first recorded run, after the proofs of all these
// steps in one table.
func (s *runSet) steps(c *rows.Column) ([]block, error) {
	proofs := &table{Head: []string{"method", "seed", "steps proved", "lowest slack", "largest Σλ|slack|", "stationary"}}
	note := "An EMGD step d = Σ λᵢ Jᵢ promises stream i a decrease of at least its share σᵢ: Jᵢ·d ≥ " +
		"σᵢ‖d‖², with equality where λᵢ > 0. The slacks Jᵢ·d − σᵢ‖d‖² and Σλ|slack|, measured at " +
		"each step, prove that the weights are the optimal ones. Proved: the share of steps with all slacks ≥ " +
		"−10⁻⁹ and Σλ|slack| ≤ 10⁻⁹, relative to the size of the terms. Stationary: steps at which no " +
		"direction decreases every loss, so d = 0."
	out := []block{{Title: "Proof of each step", Table: proofs}}
	for _, e := range c.Entries {
		for _, r := range e.Rows {
			records, err := s.files[r.Run.ID].ReadRecords()
			if err != nil {
				return nil, err
			}
			if len(records) == 0 {
				continue
			}
			out = append(out, block{Title: fmt.Sprintf("Steps of %s, seed %d", e.Name, r.Seed), Folded: true,
				Parts: stepFigures(records, r.Run.TaskNames()...)})
			if p := viz.CheckCertificates(records); p.Steps > 0 {
				out[0].Notes = []string{note}
				proofs.add(row{Series: e.Name}, datum{Text: e.Name}, datum{Text: fmt.Sprint(r.Seed)},
					datum{Text: fmt.Sprintf("%d of %d", p.Holding, p.Steps), Class: judged(p.Holding == p.Steps)},
					numberCell(min(0, p.WorstSlack), rough), numberCell(p.WorstGap, rough), datum{Text: fmt.Sprint(p.Stationary)})
			}
			break
		}
	}
	return out, nil
}

func rough(x float64) string { return fmt.Sprintf("%.0e", x) }

// stepFigures draws what the records have; the last lacks the rows if the run diverged.
func stepFigures(records []results.Record, tasks ...string) (out []block) {
	if viz.CheckCertificates(records).Steps > 0 {
		out = append(out, titled("What each stream gains beyond its share",
			"Look at the lower panel first: points near 10⁻¹⁶, the rounding of float64, mean that each step is exact. In "+
				"the upper one a stream at 0 binds; one above it descends by itself.").of(viz.Certificates(records, tasks...)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Weights) > 0 }) {
		out = append(out, titled("What each stream weighs").of(viz.StreamWeights(records, tasks...)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Gram) > 0 }) {
		out = append(out, titled("Which streams conflict", "A cosine below 0 is a conflict.").
			of(viz.Conflicts(records, tasks...)))
	}
	return out
}

// classes shows the final accuracy by class, and that at the task's own end, a table for each task.
// There is none if runs differ in their tasks' classes.
func (s *runSet) classes(c *rows.Column) block {
	runs := s.runs(c.Entries...)
	first := runs[0].Tasks
	if slices.ContainsFunc(runs, func(r *results.Run) bool { return !slices.EqualFunc(r.Tasks, first, sameClasses) }) {
		return block{}
	}
	b, names := block{Title: "Final accuracy by class", Folded: true}, runs[0].TaskNames()
	for t, task := range first {
		out := &table{Head: []string{"method"}}
		for k, class := range task.ByClass {
			out.Head = append(out.Head, fmt.Sprintf("%s (%d test samples)", task.Names[k], class.Test))
		}
		for _, e := range c.Entries {
			cells := []datum{{Text: e.Name}}
			for k := range task.ByClass {
				var finals, ends results.Moment
				for _, r := range s.runs(e) {
					finals.Add(100 * r.Tasks[t].ByClass[k].AccFinal)
					ends.Add(100 * r.Tasks[t].ByClass[k].AccEnd)
				}
				mean := numberCell(finals.Mean, fixed(1))
				mean.Small = fixed(1)(ends.Mean)
				cells = append(cells, mean)
			}
			out.add(row{Series: e.Name}, cells...)
		}
		b.Parts = append(b.Parts, block{Title: "Classes of " + names[t], Table: out,
			Notes: []string{"Means over the runs, in %; below, what the accuracy was when the task ended."}})
	}
	return b
}

// sameClasses reports whether two runs have the same classes in a task, with names and accuracies
// for each.
func sameClasses(a, b results.Task) bool {
	return slices.Equal(a.Classes, b.Classes) && len(a.Names) == len(a.Classes) && slices.Equal(a.Names, b.Names) &&
		len(a.ByClass) == len(a.Classes) && len(b.ByClass) == len(b.Classes)
}

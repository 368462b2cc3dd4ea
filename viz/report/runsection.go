package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// runSection is what one setting's runs show.
type runSection struct {
	ID, Title string
	Figures   []runFigure
	Tasks     taskTable
	Classes   []classTable   // one for each task, if all runs have the same
	Steps     []stepsSection // of methods whose steps were recorded
}

// taskTable has the final accuracy on each task, and that at the task's own end.
type taskTable struct {
	Tasks []int
	Rows  []taskRow
}

type taskRow struct {
	Label string
	Final []value // %
	End   []value
}

// stepsSection shows the recorded steps of one run.
type stepsSection struct {
	Label, Run  string
	Certificate string
	Figures     []runFigure
}

func newRunSection(ctx context.Context, s *setting, table *resultTable) (*runSection, error) {
	runs := s.runs()
	out := &runSection{Title: s.Title}
	add := func(f runFigure) { out.Figures = append(out.Figures, f) }
	add(titled("When the tasks came", timelineNote(runs)).of(viz.Timeline(viz.Light, runs[0])))
	if oneTimeline(runs) {
		add(titled("Accuracy over time", "The average is over all tasks started so far: it falls when a task arrives. Bands, or bars where there are many methods, are ± one standard deviation over runs: label sets, timelines and seeds together.").of(viz.Accuracy(viz.Light, runs...)))
	} else {
		add(titled("Accuracy as tasks end", "The average is over all tasks started so far. Bars are ± one standard deviation over runs: label sets, timelines and seeds together.").of(viz.LearningProcess(viz.Light, runs...)))
	}
	add(titled("Accuracy by task", "Look at the length of the stems: a marker below its bar is forgetting, a marker above it later improvement.").of(viz.TaskAccuracy(viz.Light, runs...)))
	if oneTimeline(runs) {
		add(titled("Accuracy of each task at each task's end", "Look along a row to the right of its frame: falling numbers are forgetting.").of(viz.AccuracyMatrix(viz.Light, runs...)))
	}
	if temperatures(runs) > 1 {
		add(titled("Accuracy and the temperature", "Runs without a fixed temperature are level lines.").of(viz.Temperature(viz.Light, runs...)))
	}
	var err error
	if out.Tasks, err = newTaskTable(runs); err != nil {
		return nil, err
	}
	if out.Classes, err = newClassTables(runs); err != nil {
		return nil, err
	}
	out.Steps, err = newStepsSections(ctx, s, table)
	return out, err
}

// oneTimeline says whether all runs have their tasks at the same steps.
func oneTimeline(runs []runPtr) bool {
	for _, r := range runs[1:] {
		if !slices.EqualFunc(r.Tasks, runs[0].Tasks, func(a, b results.Task) bool { return a.Start == b.Start && a.End == b.End }) {
			return false
		}
	}
	return true
}

// temperatures counts the temperatures that were set.
func temperatures(runs []runPtr) int {
	set := map[string]bool{}
	for _, r := range runs {
		if tau, ok := viz.TemperatureSet(r); ok {
			set[tau] = true
		}
	}
	return len(set)
}

func newTaskTable(runs []runPtr) (taskTable, error) {
	var out taskTable
	groups, err := viz.Groups(runs)
	if err != nil {
		return out, err
	}
	for _, r := range runs { // some may have more tasks than others
		for _, task := range r.Tasks[min(len(out.Tasks), len(r.Tasks)):] {
			out.Tasks = append(out.Tasks, task.ID)
		}
	}
	for _, g := range groups {
		row := taskRow{Label: g.Label}
		for t := range out.Tasks {
			row.Final = append(row.Final, ofTask(g, t, func(task results.Task) float64 { return 100 * task.AccFinal }))
			row.End = append(row.End, ofTask(g, t, func(task results.Task) float64 { return 100 * task.AccEnd }))
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// ofTask is a value of one task over those of a group's runs that have it.
func ofTask(g viz.Group, task int, value func(results.Task) float64) value {
	var xs []float64
	for _, r := range g.Runs {
		if task < len(r.Tasks) {
			xs = append(xs, value(r.Tasks[task]))
		}
	}
	return overRuns(1, xs...)
}

// newStepsSections shows for each method the steps of its first recorded run.
func newStepsSections(ctx context.Context, s *setting, table *resultTable) ([]stepsSection, error) {
	groups, err := viz.Groups(s.runs())
	if err != nil {
		return nil, err
	}
	var out []stepsSection
	for i, g := range groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(s.files, func(f RunFile) bool { return f.Records != "" && slices.Contains(g.Runs, f.Run) })
		if at < 0 {
			continue
		}
		f := s.files[at]
		records, err := f.readRecords()
		if err != nil {
			return nil, err
		}
		if len(records) > 0 {
			out = append(out, newStepsSection(f.Run, table.Rows[i].Label, records))
		}
	}
	return out, nil
}

func newStepsSection(r runPtr, label string, records []results.Record) stepsSection {
	out := stepsSection{Label: label, Run: fmt.Sprintf("seed %d", r.Seed)}
	if c := viz.CheckCertificates(records); c.Steps > 0 {
		out.Certificate = fmt.Sprintf("Of %d steps with a certificate %s are proved optimal; the lowest slack is %s, the largest Σλ|slack| is %s, relative to the size of their terms.",
			c.Steps, share(c.Holding, c.Steps), scientific(min(0, c.WorstSlack)), scientific(c.WorstGap))
		out.Figures = append(out.Figures, titled("What each stream gains beyond its share", "A stream at 0 binds; one above it descends by itself.").of(viz.Slacks(viz.Light, records)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Weights) > 0 }) { // which the last has not, if the run diverged
		out.Figures = append(out.Figures, titled("What each stream weighs", "").of(viz.StreamWeights(viz.Light, records)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Gram) > 0 }) {
		out.Figures = append(out.Figures, titled("Which streams conflict", "A cosine below 0 is a conflict.").of(viz.Conflicts(viz.Light, records)))
	}
	return out
}

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
	out := &runSection{Title: s.Title, Figures: runFigures(s.runs(), table.Repeated)}
	out.Tasks, out.Classes = newTaskTable(s.groups), newClassTables(s.groups)
	var err error
	out.Steps, err = newStepsSections(ctx, s, table)
	return out, err
}

// runFigures are the figures of runs of one setting.
func runFigures(runs []runPtr, repeated bool) (out []runFigure) {
	add := func(title, note string, draw func(...runPtr) (*viz.Figure, error)) {
		out = append(out, titled(title, note).of(draw(runs...)))
	}
	out = append(out, titled("When the tasks came", timelineNote(runs)).of(viz.Timeline(runs[0])))
	spread := ""
	if repeated {
		spread = " Bands or bars are ± one standard deviation over runs: label sets, timelines and seeds together."
	}
	if results.OneTimeline(runs) {
		add("Accuracy over time", "The average is over all tasks started so far: it falls when a task arrives."+spread, viz.Accuracy)
	} else {
		add("Accuracy as tasks end", "The average is over all tasks started so far."+spread, viz.LearningProcess)
	}
	add("Accuracy by task", "Look at the length of the stems: a marker below its bar is forgetting, a marker above it later improvement through rehearsal.", viz.TaskAccuracy)
	if results.OneTimeline(runs) {
		add("Accuracy of each task at each task's end", "Look along a row to the right of its frame: falling numbers are forgetting.", viz.AccuracyMatrix)
	}
	if temperatures(runs) > 1 {
		add("Accuracy and the temperature", "Runs without a fixed temperature are level lines.", viz.Temperature)
	}
	return out
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

func newTaskTable(groups []viz.Group) (out taskTable) {
	for _, g := range groups {
		for _, r := range g.Runs { // some may have more tasks than others
			for _, task := range r.Tasks[min(len(out.Tasks), len(r.Tasks)):] {
				out.Tasks = append(out.Tasks, task.ID)
			}
		}
	}
	out.Rows = taskRows(groups, len(out.Tasks), func(r runPtr, t int) (final, end float64, ok bool) {
		if t >= len(r.Tasks) {
			return 0, 0, false
		}
		return r.Tasks[t].AccFinal, r.Tasks[t].AccEnd, true
	})
	return out
}

// taskRows has a row for each group, whose columns are accuracies over those of its runs that have them.
func taskRows(groups []viz.Group, columns int, accuracy func(r runPtr, column int) (final, end float64, ok bool)) (out []taskRow) {
	for _, g := range groups {
		row := taskRow{Label: g.Label}
		for c := range columns {
			var finals, ends []float64
			for _, r := range g.Runs {
				if final, end, ok := accuracy(r, c); ok {
					finals, ends = append(finals, 100*final), append(ends, 100*end)
				}
			}
			row.Final, row.End = append(row.Final, overRuns(1, finals...)), append(row.End, overRuns(1, ends...))
		}
		out = append(out, row)
	}
	return out
}

// newStepsSections shows for each method the steps of its first recorded run.
func newStepsSections(ctx context.Context, s *setting, table *resultTable) ([]stepsSection, error) {
	var out []stepsSection
	for i, g := range s.groups {
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
		out.Figures = append(out.Figures, titled("What each stream gains beyond its share", "A stream at 0 binds; one above it descends by itself.").of(viz.Certificates(records)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Weights) > 0 }) { // which the last has not, if the run diverged
		out.Figures = append(out.Figures, titled("What each stream weighs", "").of(viz.StreamWeights(records)))
	}
	if slices.ContainsFunc(records, func(r results.Record) bool { return len(r.Gram) > 0 }) {
		out.Figures = append(out.Figures, titled("Which streams conflict", "A cosine below 0 is a conflict.").of(viz.Conflicts(records)))
	}
	return out
}

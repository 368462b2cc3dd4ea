package viz

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Timeline draws the streams of a run over the optimiser steps: a bar for each task from its first
// step to its last, and one for the memory from the first task's end on. Below is K(t), the number
// of streams whose gradients a step combines. It must show which tasks train together, and when.
func Timeline(run *results.Run) (*Figure, error) {
	end := float64(run.Span())
	bars := streamBars(run)
	top := NewBarePlot("", "", "")
	top.AddBars(bars)
	top.X.Min, top.X.Max = 0, end
	top.X.Tick.Marker = withoutLabels{top.X.Tick.Marker}
	height := vg.Length(min(60+16*(len(bars.Rows)), 420)) + 90
	f := Figure{Name: "timeline", Height: height, HeightRatios: []float64{float64(height - 100), 100},
		Data: Table{Head: []string{"method", "stream", "first_step", "last_step"}},
		Alt: fmt.Sprintf("Timeline of %s over %s, with the memory stream and the number of simultaneous streams.",
			plural.Of(len(run.Tasks), "task"), plural.Of(int(end), "optimiser step"))}
	addStreams(&f.Data, run.Method, run)
	return NewFigure(f, []*Plot{top}, []*Plot{countPlot(run)})
}

// countPlot draws K(t) as steps.
func countPlot(run *results.Run) *Plot {
	var xys plotter.XYs
	for _, s := range spans(run) {
		xys = append(xys, plotter.XY{X: float64(s.start), Y: float64(s.streams)})
	}
	end := float64(run.Span())
	_, _, _, most := plotter.XYRange(xys)
	p := NewBarePlot("", "optimiser step", "streams K")
	steps := staircase(append(xys, plotter.XY{X: end, Y: last(xys).Y}))
	p.Add(&plotter.Line{XYs: steps, LineStyle: lineStyle(Ink, 1.2), FillColor: Faint})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, end, 0, most+0.3
	p.Y.Tick.Marker = Ticks{N: 6, Whole: true}
	return p
}

// span is steps with the same streams, from the first to before the last.
type span struct {
	start, end, streams int
	memory              bool // whether the memory is one of them
}

// spans divides a run where its streams change: the tasks in training, and the memory after the
// first end, unless no task is in training, so that there are no steps. It takes as long as there
// are tasks, however long those last.
func spans(run *results.Run) (out []span) {
	from := memoryFrom(run)
	change := map[int]int{0: 0, from: 0, run.Span(): 0}
	for _, t := range run.Tasks {
		change[t.Start]++
		change[t.End+1]--
	}
	tasks, at := 0, sortedKeys(change)
	for i, step := range at[:len(at)-1] {
		tasks += change[step]
		s := span{step, at[i+1], tasks, tasks > 0 && step >= from}
		if s.memory {
			s.streams++
		}
		out = append(out, s)
	}
	return out
}

// rehearsals returns when the memory rehearses: from the first task's end on, while tasks are in
// training. Each is the first step and the one after the last.
func rehearsals(run *results.Run) (out [][2]int) {
	for _, s := range spans(run) {
		switch n := len(out); {
		case !s.memory:
		case n > 0 && out[n-1][1] == s.start:
			out[n-1][1] = s.end
		default:
			out = append(out, [2]int{s.start, s.end})
		}
	}
	return out
}

// memoryFrom is the step after the first task's end, from which on the memory rehearses, if there
// is one. Methods that learn from sums mostly keep no samples.
func memoryFrom(run *results.Run) int {
	sumsAlone := run.Measured.StatisticsBytes > 0 && run.Measured.StoredBytes == 0
	if sumsAlone || run.Settings()["memory.budget"] == "0" {
		return run.Span()
	}
	first := run.Span() - 1
	for _, task := range run.Tasks {
		first = min(first, task.End)
	}
	return first + 1
}

// streamBars gives each task a row, and the memory one from the first task's end on.
func streamBars(run *results.Run) (b Bars) {
	b.Rows = run.TaskNames()
	for i, task := range run.Tasks {
		b.Bars = append(b.Bars, Bar{Row: i, Text: whichClasses(task), Start: float64(task.Start), End: float64(task.End + 1),
			Color: TaskColor(i, len(run.Tasks))})
	}
	for i, r := range rehearsals(run) {
		text := ""
		if i == 0 {
			b.Rows, text = append(b.Rows, "memory"), "rehearsal"
		}
		b.Bars = append(b.Bars, Bar{Row: len(run.Tasks), Text: text, Start: float64(r[0]), End: float64(r[1]), Color: Muted})
	}
	return b
}

// whichClasses names a task's classes if they are few and their names short, or else counts them.
func whichClasses(task results.Task) string {
	n := len(task.Classes)
	switch names := strings.Join(task.Names, ", "); {
	case n == 0:
		return ""
	case n == len(task.Names) && n <= 3 && utf8.RuneCountInString(names) <= 24:
		return names
	}
	return classCount(n)
}

func classCount(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

var kindTitles = map[string]string{
	"all_at_once": "multi-task learning",
	"serial":      "serial continual learning",
	"parallel":    "parallel continual learning",
}

// Scenarios draws scenarios side by side as bars over the optimiser steps (the paper's Fig. 1). It
// must show how multi-task learning, serial and parallel continual learning differ in how many
// streams run together and how long all of it takes; the axes are equal. The memory is replayed
// from the first task's end on.
func Scenarios(scenarios ...*scenario.Scenario) (*Figure, error) {
	var row []*Plot
	rows, last := 0, 0.0
	f := Figure{Name: "scenarios", Data: Table{Head: []string{"scenario", "stream", "first_step", "last_step"}},
		Alt: fmt.Sprintf("Timelines of %s: which streams run at which optimiser step.",
			plural.Of(len(scenarios), "scenario"))}
	for i, s := range scenarios {
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("viz: scenario %d: %w", i+1, err)
		}
		run := scenarioTasks(s)
		b := streamBars(run)
		p := NewBarePlot(kindTitles[s.Kind], "optimiser step", "")
		p.AddBars(b)
		p.X.Tick.Marker = Ticks{N: 4}
		addStreams(&f.Data, kindTitles[s.Kind], run)
		row, rows, last = append(row, p), max(rows, len(b.Rows)), max(last, float64(s.LastStep()+1))
	}
	// Rows of one height and steps of one width in all plots, so that they can be compared.
	for _, p := range row {
		p.X.Min, p.X.Max, p.Y.Min = 0, last, p.Y.Max-float64(rows)
	}
	f.Height = vg.Length(min(60+18*rows, 420))
	return NewFigure(f, row)
}

// addStreams adds when each stream of a run begins and ends.
func addStreams(t *Table, title string, run *results.Run) {
	names := run.TaskNames()
	for i, task := range run.Tasks {
		t.Add(title, names[i], task.Start, task.End)
	}
	for _, r := range rehearsals(run) {
		t.Add(title, "memory", r[0], r[1]-1)
	}
}

// scenarioTasks is a run of the scenario before it is run.
func scenarioTasks(s *scenario.Scenario) *results.Run {
	run := new(results.Run)
	for i, task := range s.Tasks {
		run.Tasks = append(run.Tasks, results.Task{ID: i + 1, Classes: task.Classes, Start: task.Start, End: task.End()})
	}
	return run
}

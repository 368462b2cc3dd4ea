package viz

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Timeline draws a run's streams over the optimiser steps: a bar for each task from its first to its last
// step, one for the memory from the first task's end on, and below them K(t), the number of streams whose
// gradients one step combines. It must show which tasks train together, and when.
func Timeline(run *results.Run) (*Figure, error) {
	end := float64(run.Span())
	bars := streamBars(run)
	top := panel("", "", "")
	top.bars(bars)
	top.X.Min, top.X.Max = 0, end
	top.X.Tick.Marker = withoutLabels{top.X.Tick.Marker}
	height := vg.Length(min(60+16*(len(bars.rows)), 420)) + 90
	l := layout{name: "timeline", height: height, share: []float64{float64(height - 100), 100}, data: Table{Head: []string{"method", "stream", "first_step", "last_step"}},
		alt: fmt.Sprintf("Timeline of %d tasks over %d optimiser steps, with the memory stream and the number of simultaneous streams.", len(run.Tasks), int(end))}
	streamTable(&l.data, run.Method, run)
	return figureOf(l, []*Plot{top}, []*Plot{countPlot(run)})
}

// countPlot draws K(t) as steps.
func countPlot(run *results.Run) *Plot {
	var xys plotter.XYs
	for _, c := range streamCounts(run) {
		xys = append(xys, plotter.XY{X: float64(c.step), Y: float64(c.streams)})
	}
	end := float64(run.Span())
	_, _, _, most := plotter.XYRange(xys)
	p := panel("", "optimiser step", "streams K")
	if line, err := plotter.NewLine(steps(append(xys, plotter.XY{X: end, Y: xys[len(xys)-1].Y}))); p.can(err) {
		line.LineStyle, line.FillColor = lineStyle(ink, 1.2), rules
		p.Add(line)
	}
	p.axes(0, end, 0, most+0.3)
	p.Y.Tick.Marker = wholeTicks{}
	return p
}

// streamCount is a step and how many streams there are from then on.
type streamCount struct{ step, streams int }

// streamCounts returns K where it changes: the tasks in training, and the memory after the first end, unless no task is
// in training, so that there are no steps. It takes as long as there are tasks, however long those last.
func streamCounts(run *results.Run) []streamCount {
	last, from := run.Span()-1, memoryFrom(run)
	change := map[int]int{0: 0, from: 0}
	for _, t := range run.Tasks {
		change[t.Start]++
		change[t.End+1]--
	}
	var out []streamCount
	tasks, before := 0, 0
	for _, step := range slices.Sorted(maps.Keys(change)) {
		tasks += change[step]
		streams := tasks
		if tasks > 0 && step >= from {
			streams++
		}
		if step <= last && (step == 0 || streams != before) {
			out = append(out, streamCount{step, streams})
		}
		before = streams
	}
	return out
}

// rehearsals returns when the memory rehearses: from the first task's end on, while tasks are in training. Each is the
// first step and the one after the last.
func rehearsals(run *results.Run) (out [][2]int) {
	counts := streamCounts(run)
	for i, c := range counts {
		end := run.Span()
		if i+1 < len(counts) {
			end = counts[i+1].step
		}
		start := max(c.step, memoryFrom(run))
		switch n := len(out); {
		case c.streams == 0 || start >= end:
		case n > 0 && out[n-1][1] == start:
			out[n-1][1] = end
		default:
			out = append(out, [2]int{start, end})
		}
	}
	return out
}

// memoryFrom is the step after the first task's end, from which on the memory rehearses, if there is one.
func memoryFrom(run *results.Run) int {
	if run.Settings()["memory.budget"] == "0" {
		return run.Span()
	}
	first := run.Span() - 1
	for _, task := range run.Tasks {
		first = min(first, task.End)
	}
	return first + 1
}

// streamBars gives each task a row, and the memory one from the first task's end on.
func streamBars(run *results.Run) (b bars) {
	for i, task := range run.Tasks {
		text := whichClasses(task)
		b.rows = append(b.rows, fmt.Sprintf("task %d", task.ID))
		b.bars = append(b.bars, bar{row: i, text: text, start: float64(task.Start), end: float64(task.End + 1), color: taskColor(i, len(run.Tasks))})
	}
	for i, r := range rehearsals(run) {
		text := ""
		if i == 0 {
			b.rows, text = append(b.rows, "memory"), "rehearsal"
		}
		b.bars = append(b.bars, bar{row: len(run.Tasks), text: text, start: float64(r[0]), end: float64(r[1]), color: muted})
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
	case n == 1:
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

var kindTitles = map[scenario.Kind]string{
	scenario.AllAtOnce: "multi-task learning",
	scenario.Serial:    "serial continual learning",
	scenario.Parallel:  "parallel continual learning",
}

// Scenarios draws situations side by side as bars over the optimiser steps (the paper's Fig. 1). It must show how multi-task
// learning, serial and parallel continual learning differ, in how many streams run together and in how long all of it takes: the
// axes are the same. The memory rehearses from the first task's end on.
func Scenarios(scenarios ...*scenario.Scenario) (*Figure, error) {
	var row []*Plot
	rows, last := 0, 0.0
	data := Table{Head: []string{"scenario", "stream", "first_step", "last_step"}}
	for i, s := range scenarios {
		if s == nil {
			return nil, fmt.Errorf("viz: scenario %d is nil", i+1)
		}
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("viz: scenario %d: %w", i+1, err)
		}
		run := scenarioTasks(s)
		b := streamBars(run)
		p := panel(kindTitles[s.Kind], "optimiser step", "")
		p.bars(b)
		p.X.Tick.Marker = roundTicks{4}
		streamTable(&data, kindTitles[s.Kind], run)
		row, rows, last = append(row, p), max(rows, len(b.rows)), max(last, float64(s.LastStep()+1))
	}
	// Rows of one height and steps of one width in all plots, so that they can be compared.
	for _, p := range row {
		p.axes(0, last, p.Y.Max-float64(rows), p.Y.Max)
	}
	return figureOf(layout{name: "scenarios", data: data, height: vg.Length(min(60+18*rows, 420)),
		alt: fmt.Sprintf("Timelines of %d scenarios: which streams run at which optimiser step.", len(scenarios))}, row)
}

// streamTable adds when each stream of a run begins and ends.
func streamTable(data *Table, title string, run *results.Run) {
	for _, task := range run.Tasks {
		data.add(title, fmt.Sprintf("task %d", task.ID), task.Start, task.End)
	}
	for _, r := range rehearsals(run) {
		data.add(title, "memory", r[0], r[1]-1)
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

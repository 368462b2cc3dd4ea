package viz

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

var kindTitles = map[scenario.Kind]string{
	scenario.AllAtOnce: "multi-task learning",
	scenario.Serial:    "serial continual learning",
	scenario.Parallel:  "parallel continual learning",
}

// Scenarios draws situations side by side as bars over the optimiser steps (the paper's Fig. 1): under
// multi-task learning all streams start together, under serial continual learning each starts where the last
// ended, under parallel continual learning at any time. The memory rehearses from the first task's end on. It
// must show at a glance how the three situations differ, in how many streams run together and in how long all
// of it takes: the axes are the same.
func Scenarios(t *Theme, scenarios ...*scenario.Scenario) (*Figure, error) {
	if len(scenarios) == 0 {
		return nil, errors.New("viz: no scenarios to draw")
	}
	var row []*Plot
	rows, last := 0, 0.0
	data := Table{Head: []string{"scenario", "stream", "first_step", "last_step"}}
	for i, s := range scenarios {
		if s == nil {
			return nil, fmt.Errorf("viz: scenario %d is nil", i+1)
		}
		if err := s.Complete(); err != nil {
			return nil, fmt.Errorf("viz: scenario %d: %w", i+1, err)
		}
		run := scenarioTasks(s)
		b := streamBars(t, run)
		p := t.panel(kindTitles[s.Kind], "optimiser step", "")
		p.bars(b)
		p.X.Tick.Marker = roundTicks{4}
		streamTable(&data, kindTitles[s.Kind], run)
		row, rows, last = append(row, p), max(rows, len(b.rows)), max(last, float64(s.LastStep()+1))
	}
	// Rows of one height and steps of one width in all plots, so that they can be compared.
	for _, p := range row {
		p.axes(0, last, p.Y.Max-float64(rows), p.Y.Max)
	}
	return t.figure(layout{name: "scenarios", data: data, height: vg.Length(min(60+18*rows, 420)),
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

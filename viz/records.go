package viz

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// checkRecords refuses records that would make an empty or false figure. [results.ReadRecords] has checked them one by one.
func checkRecords(records []results.Record) error {
	if len(records) == 0 {
		return errors.New("viz: no records to draw")
	}
	for i := range records[1:] {
		if before, after := records[i].Step, records[i+1].Step; after <= before {
			return fmt.Errorf("viz: the record of step %d follows that of step %d", after, before)
		}
	}
	return nil
}

// recordTable has a row for each stream of each step; a method without certificates leaves its columns empty.
func recordTable(records []results.Record) Table {
	data := Table{Head: []string{"step", "stream", "weight", "sigma", "lambda", "slack_relative", "gap_relative"}}
	at := func(values []float64, i int) any {
		if i < len(values) {
			return values[i]
		}
		return nil
	}
	rows := streamsOf(records...)
	for i := range records {
		r := &records[i]
		var slacks []float64
		var gap any
		if certified(r) {
			slacks, gap = relativeSlacks(r), r.Gap
		}
		for j, id := range r.IDs {
			data.add(r.Step, rows.name(id), at(r.Weights, j), at(r.Sigma, j), at(r.Lambda, j), at(slacks, j), gap)
		}
	}
	return data
}

// Recorded is the records of one run, for figures that compare runs step by step. They must hold Gram matrices, which
// runs that are observed have whatever their method (Options.Observe of package experiment).
type Recorded struct {
	Label   string // as in print; runs of one label are repetitions with other seeds
	Method  string // whose colour it has; of several labels of one method, each has a shade of its own
	Records []results.Record
}

// recordedGroup is the runs of one label.
type recordedGroup struct {
	label string
	style Style
	runs  [][]results.Record
}

// grouped sorts runs by their labels, in the order of the first of each, and gives each label a style.
func (t *Theme) grouped(recorded []Recorded) ([]recordedGroup, error) {
	if len(recorded) == 0 {
		return nil, errors.New("viz: no runs to draw")
	}
	var out []recordedGroup
	var methods []string
	for _, r := range recorded {
		if err := checkRecords(r.Records); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Label, err)
		}
		for i := range r.Records {
			if s := &r.Records[i]; len(s.IDs) > 0 && (len(s.Gram) == 0 || len(s.Weights) != len(s.IDs)) {
				return nil, fmt.Errorf("viz: %s: the record of step %d lacks a Gram matrix or weights; observe the run", r.Label, s.Step)
			}
		}
		i := slices.IndexFunc(out, func(g recordedGroup) bool { return g.label == r.Label })
		if i < 0 {
			i = len(out)
			out, methods = append(out, recordedGroup{label: r.Label}), append(methods, r.Method)
		}
		out[i].runs = append(out[i].runs, r.Records)
	}
	for i, s := range t.named(looks(methods, func(int) bool { return true })) {
		out[i].style = s
	}
	return out, nil
}

// taskEnds marks the first step after each task's end, from which on its samples are in the memory.
func taskEnds(records []results.Record) (marks []vertical) {
	last := map[int]int{} // a task may be left out of single steps
	for i, r := range records {
		for _, id := range r.IDs {
			last[id] = i
		}
	}
	for i := 1; i < len(records); i++ {
		for _, id := range records[i-1].IDs {
			if id <= 0 || last[id] != i-1 {
				continue
			}
			label := fmt.Sprint(id)
			if len(marks) == 0 {
				label = fmt.Sprintf("end of task %d", id)
			}
			marks = append(marks, vertical{float64(records[i].Step), label})
		}
	}
	return marks
}

// unnamed leaves out the labels of marks.
func unnamed(marks []vertical) (out []vertical) {
	for _, m := range marks {
		out = append(out, vertical{x: m.x})
	}
	return out
}

// sameHeight gives plots one vertical axis.
func sameHeight(plots []*Plot) {
	var axes []*plot.Axis
	for _, p := range plots {
		axes = append(axes, &p.Y)
	}
	unite(axes)
}

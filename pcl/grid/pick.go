package grid

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Pick chooses the best candidate for each method and increment: that with the largest mean of A
// over its runs. Of equal ones the first wins, and so the published one before all others. A
// candidate of which a run failed or diverged loses; notes says which ones did, and which methods
// have no winner because of it. Pick returns an error if runs are missing. It panics if the grid is
// not one of [LoadTuning].
func (r *Results) Pick() (best *Tuned, notes []string, err error) {
	best = &Tuned{
		Schema: tunedSchema, Tuning: r.Name,
		Budget: r.tuning.budget, LabelSets: r.LabelSets, Timelines: r.Timelines, Seeds: r.Seeds,
		Methods: map[string]map[string]Winner{},
	}
	if best.Datasets, err = r.dataSets(); err != nil {
		return nil, nil, err
	}
	for _, row := range r.Table() {
		if row.State == rows.Done {
			m := row.Run.Measured
			best.Backend, best.Threads, best.Program = m.Backend, m.Threads, row.Program
		}
	}
	for _, name := range r.tuning.methods {
		best.Methods[name] = map[string]Winner{}
		for _, increment := range r.Increments {
			w, lost, err := r.pick(name, increment)
			if err != nil {
				return nil, nil, err
			}
			notes = append(notes, lost...)
			if w == nil {
				notes = append(notes, fmt.Sprintf("%s, %s-incremental: no candidate is left, and so there are no tuned values.",
					name, increment))
				continue
			}
			best.Methods[name][increment], best.Winners = *w, append(best.Winners, *w)
		}
	}
	return best, notes, nil
}

// dataSets returns the names of the data sets of the runs.
func (g *Grid) dataSets() ([]string, error) {
	var names []string
	for _, d := range g.Datasets {
		c, err := g.config(d, g.Methods[0], g.Increments[0], nil)
		if err != nil {
			return nil, err
		}
		names = append(names, c.Config().Dataset)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// pick chooses the winner for a method in one increment; nil if all candidates lost.
func (r *Results) pick(name, increment string) (best *Winner, notes []string, err error) {
	var published *float64
	for i, c := range r.tuning.candidates[name] {
		a, lost, err := r.meanA(c.Name, increment)
		if err != nil {
			return nil, nil, fmt.Errorf("%s, %s-incremental: %w", c.Name, increment, err)
		}
		if lost != "" {
			notes = append(notes, fmt.Sprintf("%s, %s-incremental, loses: %s.", c.Name, increment, lost))
			continue
		}
		if i == 0 {
			published = &a
		}
		if best == nil || a > best.A {
			own, _ := r.Method[c.Name]["method"].(string)
			best = &Winner{Name: name, Increment: increment, Method: own, Values: valuesInWords(name, c), A: a,
				Set: merged(c.Set)}
		}
	}
	if best != nil {
		best.Published = published
	}
	return best, notes, nil
}

// meanA returns the mean of A over the rows of a method in an increment, in percent, or why they do
// not count.
func (r *Results) meanA(method, increment string) (mean float64, lost string, err error) {
	n := 0.0
	for _, row := range r.Rows {
		if row.Method != method || row.Increment != increment {
			continue
		}
		run := r.states[row.Cell].Run
		switch reason := r.states[row.Cell].Failed; {
		case reason != "":
			return 0, "a run failed: " + short(reason), nil
		case run == nil:
			return 0, "", fmt.Errorf("run %s of grid %s has no result yet", row.Cell, r.Name)
		case run.DivergedAt != nil:
			return 0, fmt.Sprintf("a run diverged at step %d", *run.DivergedAt), nil
		}
		mean, n = mean+run.A, n+1
	}
	if n == 0 {
		return 0, "", fmt.Errorf("grid %s has no such row: it is from another file", r.Name)
	}
	return mean / n, "", nil
}

package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/parallelcl/parallelcl/viz"
)

// page is what the template shows.
type page struct {
	Title, Headline string
	Results         *resultTable
	Best            string
	Figures         []runFigure
	Toy             *toySection
	Certificates    []certificateSection
	Tolerance       string
	Made            made
	Runs            []runPtr
	Config          string // of the first run
}

func newPage(in *DemoInput) (*page, error) {
	first := in.Runs[0]
	groups, err := viz.Groups(in.Runs)
	if err != nil {
		return nil, err
	}
	table := newResultTable(groups)
	p := &page{
		Title:     cmp.Or(in.Title, "Parallel continual learning"),
		Results:   table,
		Headline:  headline(in, table),
		Best:      table.best(),
		Tolerance: "10⁻⁹",
		Made:      demoMade(in),
		Runs:      in.Runs,
	}
	var config bytes.Buffer
	if json.Indent(&config, first.Config, "", "  ") == nil {
		p.Config = config.String()
	}
	for _, f := range runFigures(in.Runs, table.Repeated) {
		if f.Picture != "" { // else there are no accuracies for it
			p.Figures = append(p.Figures, f)
		}
	}
	if p.Toy, err = newToySection(in.Toy); err != nil {
		return nil, err
	}
	p.Certificates, err = newCertificates(in, table)
	return p, err
}

func demoMade(in *DemoInput) made {
	r, m := in.Runs[0], runsMade(in.Origin, in.Runs)
	m.add("data set", r.Dataset+", "+r.Increment+"-incremental")
	m.add("label set, timeline", fmt.Sprintf("seeds %d, %d", r.LabelSet, r.Timeline))
	if r.Measured.PeakRSS > 0 {
		m.add("peak memory", fmt.Sprintf("%.0f MiB", float64(r.Measured.PeakRSS)/(1<<20)))
	}
	return m
}

func headline(in *DemoInput, table *resultTable) string {
	r := in.Runs[0]
	classes := map[int]bool{}
	for _, t := range r.Tasks {
		for _, c := range t.Classes {
			classes[c] = true
		}
	}
	methods := "one method learns"
	if n := len(table.Rows); n > 1 {
		methods = fmt.Sprintf("%d methods learn", n)
	}
	return fmt.Sprintf("Here %s %d tasks of %s, %d classes in all (%s-incremental), from streams that start and end "+
		"at their own times. Each of %d steps combines the gradients of all streams that are active.",
		methods, len(r.Tasks), r.Dataset, len(classes), r.Increment, r.Steps)
}

func timelineNote(runs []runPtr) string {
	r := runs[0]
	most, at := 0, 0
	for _, k := range r.PerK {
		if k.K > most {
			most, at = k.K, k.Steps
		}
	}
	note := howTasksCome(r)
	if most > 0 {
		note += fmt.Sprintf(" At the most, a step has %d gradients (%d of %d steps).", most, at, r.Steps)
	}
	for _, other := range runs[1:] {
		if other.Timeline != r.Timeline || other.LabelSet != r.LabelSet {
			return note + " Shown is the first run's timeline; others differ."
		}
	}
	return note
}

// howTasksCome says what the bars of a timeline show.
func howTasksCome(r runPtr) string {
	joins, together := false, true
	firstEnd, lastEnd := r.Tasks[0].End, r.Tasks[0].End
	for _, a := range r.Tasks {
		together = together && a.Start == r.Tasks[0].Start
		firstEnd, lastEnd = min(firstEnd, a.End), max(lastEnd, a.End)
		for _, b := range r.Tasks {
			joins = joins || a.Start < b.Start && b.Start <= a.End
		}
	}
	note := "The tasks come one after the other"
	switch {
	case joins:
		note = "Look at the overlaps: a new task joins while others are still in training"
	case together:
		note = "All tasks begin together"
	}
	if firstEnd < lastEnd && r.Settings()["memory.budget"] != "0" {
		note += ", and rehearsal of finished tasks starts at the first task's end"
	}
	return note + "."
}

package viz

import (
	"errors"
	"fmt"

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

// sameHeight gives plots one vertical axis.
func sameHeight(plots []*Plot) {
	var axes []*plot.Axis
	for _, p := range plots {
		axes = append(axes, &p.Y)
	}
	unite(axes)
}

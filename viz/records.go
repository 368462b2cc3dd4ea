package viz

import (
	"errors"
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// checkRecords refuses records that would make an empty or false figure.
func checkRecords(records []results.Record) error {
	if len(records) == 0 {
		return errors.New("viz: no records to draw")
	}
	for i := range records {
		if err := checkRecord(&records[i]); err != nil {
			return err
		}
		if i > 0 && records[i].Step <= records[i-1].Step {
			return fmt.Errorf("viz: the record of step %d follows that of step %d", records[i].Step, records[i-1].Step)
		}
	}
	return nil
}

func checkRecord(r *results.Record) error {
	k := len(r.IDs)
	for _, id := range r.IDs {
		if id < rehearsal.PenaltyRow {
			return fmt.Errorf("viz: the record of step %d has a stream %d; no row has an id below %d", r.Step, id, rehearsal.PenaltyRow)
		}
	}
	for _, part := range []struct {
		name   string
		values []float64
		want   int
	}{{"weights", r.Weights, k}, {"λ", r.Lambda, k}, {"σ", r.Sigma, k}, {"slacks", r.Slacks, k}, {"Gram entries", r.Gram, k * k}} {
		if n := len(part.values); n != 0 && n != part.want {
			return fmt.Errorf("viz: the record of step %d has %d %s for %d streams", r.Step, n, part.name, k)
		}
		for _, v := range part.values {
			if !finite(v) {
				return fmt.Errorf("viz: the record of step %d has %v among its %s", r.Step, v, part.name)
			}
		}
	}
	if !finite(r.Gap) || !finite(r.NormD) {
		return fmt.Errorf("viz: the record of step %d has a gap of %v and a ‖d‖ of %v; want finite numbers", r.Step, r.Gap, r.NormD)
	}
	if certified(r) {
		for i, slack := range relativeSlacks(r) {
			if math.IsInf(slack, 0) {
				return fmt.Errorf("viz: the record of step %d has a slack of %v, which its gradients and ‖d‖ are too short for", r.Step, r.Slacks[i])
			}
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

package viz

import (
	"errors"
	"fmt"

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
		if id < 0 {
			return fmt.Errorf("viz: the record of step %d has a stream %d; ids count from 0, the memory", r.Step, id)
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
	return nil
}

func streamName(id int) string {
	if id == 0 {
		return "memory"
	}
	return fmt.Sprintf("task %d", id)
}

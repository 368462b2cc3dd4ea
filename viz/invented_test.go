package viz_test

import (
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// sample is small invented results that look like real ones: five tasks, evaluated every 20 steps.
var sample invented

type invented struct{}

// Run is one of the stored runs, or, of another method or seed, one that has their numbers.
func (invented) Run(method, title string, seed uint64) *results.Run {
	runs := loadRuns("invented.jsonl.gz")
	i := slices.IndexFunc(runs, func(r *results.Run) bool { return r.Method == method && r.Seed == seed })
	r := runs[max(i, 0)]
	r.Method, r.MethodTitle, r.Seed = method, title, seed
	return r
}

// Runs are those of four methods for each seed.
func (s invented) Runs(seeds int) (out []*results.Run) {
	for _, m := range [][2]string{{"avggrad", "AvgGrad"}, {"er", "ER"}, {"mgda", "MGDA"}, {"emgd-gmc", "EMGD (GMC)"}} {
		for seed := range seeds {
			out = append(out, s.Run(m[0], m[1], uint64(1234+seed)))
		}
	}
	return out
}

// Records are the steps of a run.
func (invented) Records(*results.Run) (records []results.Record) {
	unzipped("inventedrecords.jsonl.gz", func(r io.Reader) (err error) {
		records, err = results.ReadRecords(r)
		return err
	})
	return records
}

func (invented) Traces() []viz.Trace { return descents() }

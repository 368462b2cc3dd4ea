package report_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
)

// sample is the small invented results of package viz.
var sample invented

type invented struct{}

func lines[T any](name string) (out []T) {
	f, err := os.Open("../testdata/" + name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	for d := json.NewDecoder(z); err == nil; {
		var v T
		if err = d.Decode(&v); err == nil {
			out = append(out, v)
		}
	}
	if !errors.Is(err, io.EOF) {
		log.Fatal(err)
	}
	return out
}

func (invented) Run(method, title string, seed uint64) *results.Run {
	runs := lines[*results.Run]("invented.jsonl.gz")
	return runs[slices.IndexFunc(runs, func(r *results.Run) bool { return r.Method == method && r.MethodTitle == title && r.Seed == seed })]
}

func (s invented) Runs(seeds int) (out []*results.Run) {
	for _, m := range [][2]string{{"avggrad", "AvgGrad"}, {"er", "ER"}, {"mgda", "MGDA"}, {"emgd-gmc", "EMGD (GMC)"}} {
		for seed := range seeds {
			out = append(out, s.Run(m[0], m[1], uint64(1234+seed)))
		}
	}
	return out
}

func (invented) Records(*results.Run) []results.Record {
	return lines[results.Record]("inventedrecords.jsonl.gz")
}

func (invented) Traces() (out []viz.Trace) {
	for _, name := range []string{"avggrad", "sum", "mgda", "emgd-gs", "emgd-gmc"} {
		m, err := method.New(name, nil)
		if err != nil {
			log.Fatal(err)
		}
		trace, err := toy.Run(m, toy.Figure2())
		if err != nil {
			log.Fatal(err)
		}
		out = append(out, viz.NewTrace(trace, m.Info().Title))
	}
	return out
}

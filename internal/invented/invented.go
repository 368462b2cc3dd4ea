// Package invented has results for tests that look like real ones. None of their numbers was
// measured.
package invented

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/toy"
)

//go:embed *.jsonl.gz
var files embed.FS

// lines reads the values of a file of this package.
func lines[T any](name string) (out []T) {
	data, err := files.ReadFile(name)
	must(err)
	z, err := gzip.NewReader(bytes.NewReader(data))
	must(err)
	for d := json.NewDecoder(z); d.More(); {
		var v T
		must(d.Decode(&v))
		out = append(out, v)
	}
	return out
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Run is a run of five tasks that was evaluated every 20 steps; one of another method or seed than
// those of [Runs] has the numbers of another run.
func Run(method, title string, seed uint64) *results.Run {
	runs := lines[*results.Run]("runs.jsonl.gz")
	i := slices.IndexFunc(runs, func(r *results.Run) bool { return r.Method == method && r.Seed == seed })
	r := runs[max(i, 0)]
	r.Method, r.MethodTitle, r.Seed = method, title, seed
	return r
}

// Runs returns runs of four methods for each seed.
func Runs(seeds int) (out []*results.Run) {
	for _, m := range [][2]string{{"avggrad", "AvgGrad"}, {"er", "ER"}, {"mgda", "MGDA"}, {"emgd-gmc", "EMGD (GMC)"}} {
		for seed := range seeds {
			out = append(out, Run(m[0], m[1], uint64(1234+seed)))
		}
	}
	return out
}

// Records are the steps of a run of EMGD (GMC).
func Records() []results.Record { return lines[results.Record]("records.jsonl.gz") }

// Descents returns the traces of five methods on the toy functions, which it computes.
func Descents() (out []*toy.Trace) {
	for _, name := range []string{"avggrad", "sum", "mgda", "emgd-gs", "emgd-gmc"} {
		m, err := method.New(name, nil)
		must(err)
		trace, err := toy.Run(m, toy.Figure2())
		must(err)
		trace.Label = method.Describe(m).Title
		out = append(out, trace)
	}
	return out
}

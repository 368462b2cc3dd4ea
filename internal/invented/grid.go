package invented

import (
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Grid describes results of a grid to be made up.
type Grid struct {
	Name, Title, Paper, Size string
	Datasets                 [][2]string // names and the paper's
	Increments               []string
	Methods                  []Method
	LabelSets, Timelines     int
	Seeds                    int
	Vary                     string // name of what is varied
	Values                   []string
}

// Method is one, and about what it reaches.
type Method struct {
	Name, Paper, Run string
	A                float64
}

// Methods are those that the paper calls so, with A falling by step from each to the next.
func Methods(names []string, highest, step float64) (out []Method) {
	for i, n := range names {
		id := strings.ToLower(strings.NewReplacer("(", "-", ")", "", "+ME", "").Replace(n))
		out = append(out, Method{Name: n, Paper: n, Run: id, A: highest - float64(i)*step})
	}
	return out
}

// Rows makes up the results of all places: A is that of the method, moved by the situation (as for
// all methods), by the increment, and by half a point or less by the run.
func (g Grid) Rows() (out []*rows.Row) {
	values := g.Values
	if g.Vary == "" {
		values = []string{""}
	}
	for _, dataset := range g.Datasets {
		for _, increment := range g.Increments {
			for _, m := range g.Methods {
				for _, v := range values {
					out = append(out, g.method(dataset[0], dataset[1], increment, m, v)...)
				}
			}
		}
	}
	return out
}

func (g Grid) method(dataset, paper, increment string, m Method, value string) (out []*rows.Row) {
	for l := range g.LabelSets {
		for t := range g.Timelines {
			for s := range g.Seeds {
				r := &rows.Row{
					Grid: g.Name, Title: g.Title, Paper: g.Paper, Size: g.Size, Dataset: dataset, PaperDataset: paper,
					Method: m.Name, PaperMethod: m.Paper, Increment: increment, Trial: trial(l, t, s), Program: "v0.0.0",
					State: rows.Done, Seconds: 3,
				}
				if g.Vary != "" {
					r.Vary = []rows.Setting{{Name: g.Vary, Value: value}}
				}
				at := strings.Join([]string{dataset, increment, r.Line(), fmt.Sprint(l, t, s)}, "/")
				r.Cell = fmt.Sprintf("%016x", seed.New(1, g.Name+at).Uint64())
				r.Run = result(m, increment, at, fmt.Sprint(dataset, l, t))
				out = append(out, r)
			}
		}
	}
	return out
}

func trial(labelSet, timeline, nth int) stats.Trial {
	at := stats.Situation{LabelSet: uint64(labelSet), Timeline: uint64(timeline)}
	return stats.Trial{Situation: at, Seed: uint64(1234 + nth)}
}

func result(m Method, increment, at, situation string) *results.Run {
	a := m.A + 4*(share("situation", situation)-0.5) + share("run", at) - 0.5
	if increment == "class" {
		a -= 30
	}
	r := &results.Run{
		ID: "run-" + at, Method: m.Run, A: a, F: -5, AFirst: a + 5, Steps: 400,
		ModelSHA256: fmt.Sprintf("%064x", seed.New(2, at).Uint64()),
		Measured: results.Measured{
			TrainSeconds: 2, EvalSeconds: 0.5, StepMillis: 5,
			Maker: results.Maker{Backend: "xla-cpu", Device: "a sample", Threads: 1, Version: "v0.0.0", Commit: "0"},
		},
	}
	for i := range 5 {
		r.Curve = append(r.Curve, results.Point{Step: i, Ended: []int{i + 1}, Mean: (a + 2*float64(4-i)) / 100})
	}
	return r
}

// share is a number from 0 to 1 that follows from a text.
func share(what, text string) float64 { return seed.New(3, what+text).Float64() }

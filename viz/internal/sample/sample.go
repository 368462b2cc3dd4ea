// Package sample makes small results that look like real ones, for the tests of the
// figures. The numbers are invented.
package sample

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Titles holds the methods of the sample and their names in print.
var Titles = []struct{ Name, Title string }{
	{"avggrad", "AvgGrad"}, {"er", "ER"}, {"mgda", "MGDA"}, {"emgd-gmc", "EMGD (GMC)"},
}

var (
	starts  = []int{0, 70, 150, 180, 300}
	lengths = []int{120, 140, 90, 180, 110}
	sizes   = []int{12, 9, 15, 11, 15}
	levels  = map[string]float64{"avggrad": 0.71, "er": 0.68, "mgda": 0.66, "emgd-gmc": 0.76}
)

// Runs returns one run of each method for each seed.
func Runs(seeds int) []*results.Run {
	var out []*results.Run
	for _, m := range Titles {
		for seed := range seeds {
			out = append(out, Run(m.Name, m.Title, uint64(1234+seed)))
		}
	}
	return out
}

// Run returns an invented run of five tasks.
func Run(method, title string, seed uint64) *results.Run {
	rng := rand.New(rand.NewPCG(seed, uint64(len(method))))
	r := &results.Run{
		Schema: results.Schema, ID: fmt.Sprintf("%s-%d", method, seed),
		Method: method, MethodTitle: title, Dataset: "glyphs", Increment: "task", Seed: seed,
		Config:      json.RawMessage(`{"batch": 128, "lr": 0.003, "memory_per_class": 5, "optimizer": "adam"}`),
		ModelSHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Measured: results.Measured{
			TrainSeconds: 9.1, StepMillis: 22 + float64(len(method)),
			Maker: results.Maker{Backend: "xla-cpu", Device: "CPU, 2 threads", Threads: 2, Version: "v0.1.0", GoVersion: "go1.26"},
		},
	}
	if method == "emgd-gmc" {
		r.Params = map[string]any{"tau": 5.0}
	}
	level, ok := levels[method]
	if !ok {
		level = 0.5 + 0.02*float64(len(method))
	}
	class := 0
	for i := range starts {
		t := results.Task{ID: i + 1, Start: starts[i], End: starts[i] + lengths[i] - 1, Train: 128 * lengths[i], Test: 20 * sizes[i]}
		for range sizes[i] {
			t.Classes = append(t.Classes, class)
			class++
		}
		t.AccEnd = level - 0.012*float64(sizes[i]-11) + 0.02*rng.NormFloat64()
		t.AccFinal = t.AccEnd - 0.03*float64(4-i)*(0.8-level)*8 + 0.01*rng.NormFloat64()
		r.Steps = max(r.Steps, t.End+1)
		r.A += 20 * t.AccFinal
		r.AFirst += 20 * t.AccEnd
		r.Tasks = append(r.Tasks, t)
	}
	r.F = r.A - r.AFirst
	r.Curve = curve(r, rng)
	return r
}

func curve(r *results.Run, rng *rand.Rand) []results.Point {
	var points []results.Point
	for step := 20; step < r.Steps+20; step += 20 {
		at := min(step, r.Steps-1)
		p := results.Point{Step: at, Acc: make([]*float64, len(r.Tasks))}
		n := 0
		for i, t := range r.Tasks {
			if at < t.Start {
				continue
			}
			done := math.Min(1, float64(at-t.Start)/float64(t.End-t.Start))
			acc := 0.08 + (t.AccEnd-0.08)*(1-math.Exp(-4*done))
			if at > t.End {
				acc += (t.AccFinal - t.AccEnd) * float64(at-t.End) / float64(max(1, r.Steps-1-t.End))
			}
			acc += 0.006 * rng.NormFloat64()
			p.Acc[i] = &acc
			p.Mean += acc
			n++
		}
		p.Mean /= float64(n)
		points = append(points, p)
	}
	return points
}

// Records returns one record a step of the run, with two-row optimal weights in closed form.
func Records(r *results.Run) []results.Record {
	rng := rand.New(rand.NewPCG(r.Seed, 7))
	first := r.Steps
	for _, t := range r.Tasks {
		first = min(first, t.End)
	}
	var out []results.Record
	for step := range r.Steps {
		rec := results.Record{Step: step, Status: "optimal"}
		var norms []float64
		if step > first {
			rec.IDs = append(rec.IDs, 0)
			norms = append(norms, 0.5+0.1*rng.Float64())
		}
		for _, t := range r.Tasks {
			if step >= t.Start && step <= t.End {
				rec.IDs = append(rec.IDs, t.ID)
				norms = append(norms, 0.3+2*math.Exp(-float64(step-t.Start)/30)+0.2*rng.Float64())
			}
		}
		certify(&rec, norms, rng)
		out = append(out, rec)
	}
	return out
}

// certify solves the step for orthogonal gradients, where λᵢ ∝ σᵢ/‖Jᵢ‖² with Σλσ = 1.
func certify(rec *results.Record, norms []float64, rng *rand.Rand) {
	k := len(norms)
	rec.Gram = make([]float64, k*k)
	sum, total := 0.0, 0.0
	for i, n := range norms {
		rec.Gram[i*k+i] = n * n
		sum += math.Exp(n / 5)
	}
	for _, n := range norms {
		s := math.Exp(n/5) / sum
		rec.Sigma = append(rec.Sigma, s)
		total += s * s / (n * n)
	}
	for i, n := range norms {
		rec.Lambda = append(rec.Lambda, rec.Sigma[i]/(n*n)/total)
	}
	rec.NormD = math.Sqrt(1 / total)
	for i := range norms {
		rec.Slacks = append(rec.Slacks, rec.Lambda[i]*rec.Gram[i*k+i]-rec.Sigma[i]/total+1e-16*rng.NormFloat64())
	}
	rec.Weights = rec.Lambda
	rec.Losses = norms
	rec.Gap = math.Abs(2e-16 * rng.NormFloat64())
}

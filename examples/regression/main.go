// Command regression learns to predict real numbers, with a loss of its own, from four instruments
// that are switched on one after another. Each shows the same two quantities in its own way, and
// some of what it was taught is far off. After each instrument it prints the mean loss of all so
// far, for averaging without a memory and for EMGD with one.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

const (
	instruments = 4
	inputs      = 4 // readings
	targets     = 2 // what they mean
)

// huber is ½d² where |d| ≤ 1, and |d| − ½ elsewhere, so that wild readings count less than with
// squares.
var huber = model.LossFunc("huber", targets, func(outputs, targets *graph.Node) *graph.Node {
	d := graph.Abs(graph.Sub(outputs, targets))
	square := graph.MulScalar(graph.Mul(d, d), 0.5)
	return graph.ReduceMean(graph.Where(graph.LessOrEqual(d, graph.OnesLike(d)), square, graph.AddScalar(d, -0.5)), 1)
})

// readings are samples of one instrument: its readings, followed by the two quantities.
type readings struct {
	instrument int
	x          [][]float32
}

func read(instrument, n int, wild float64, seed uint64) readings {
	r, rng := readings{instrument: instrument}, rand.New(rand.NewPCG(seed, uint64(instrument)))
	turn := float64(instrument) * math.Pi / 3
	for range n {
		a, b := rng.Float64()*2-1, rng.Float64()*2-1
		u, v := a*math.Cos(turn)-b*math.Sin(turn), a*math.Sin(turn)+b*math.Cos(turn)
		x := []float32{float32(u), float32(v), float32(u * v), float32(u - v*v), float32(math.Sin(2 * a)), float32(a * b)}
		if rng.Float64() < wild {
			x[inputs] += float32(20 * rng.NormFloat64())
		}
		r.x = append(r.x, x)
	}
	return r
}

func (r readings) Len() int { return len(r.x) }

func (r readings) Sample(i int, x []float32) (class int) {
	copy(x, r.x[i])
	return targets * r.instrument // the classes of a task only name its outputs
}

// train switches the instruments on, one after another, and prints the mean losses of all so far
// after each.
func train(out io.Writer, device *backend.Backend, rule string, budget int) {
	learner := must(pcl.New(context.Background(), pcl.Options{
		Backend: device, Model: must(model.NewMLP(inputs, []int{64, 32}, targets*instruments)),
		Method: must(method.New(rule, nil)),
		Loss:   huber, Increment: "task", Batch: 32, Seed: 1,
		Optimizer: optim.Scheduled{Optimizer: optim.Adam{LR: 0.01, WeightDecay: 1e-4}, Schedule: optim.Schedule{Warmup: 20}},
		Memory:    memory.Config{Policy: "per_class", Budget: budget},
	}))
	defer learner.Close()
	for id := 1; id <= instruments; id++ {
		must(learner.Attach(pcl.Task{
			Name: fmt.Sprintf("instrument %d", id), Classes: []int{targets * (id - 1), targets*(id-1) + 1},
			Stream: must(data.NewStream(read(id-1, 640, 0.05, 1), 10, 1, id)), Test: read(id-1, 200, 0, 2),
		}))
		if err := learner.Run(context.Background(), pcl.Hooks{}); err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(out, "%-16s after instrument %d:", rule, id)
		for of := 1; of <= id; of++ {
			fmt.Fprintf(out, "  %.4f", must(learner.EvaluateLoss(of)))
		}
		fmt.Fprintln(out)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Auto}))
	defer device.Close()
	train(os.Stdout, device, "avggrad", 0)
	train(os.Stdout, device, "emgd-gmc+der-pp", 30)
}

package tsne

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

func TestClustersStayApart(t *testing.T) {
	x, label := clusters(6, 30, 10, 8, 1)
	for _, o := range []Options{{}, {Perplexity: 5}} {
		o.Iterations = 300
		r := embed(t, x, o)
		if s := strangers(r, label); s > 0 {
			t.Errorf("%+v: the nearest neighbours of %d points are of another cluster", o, s)
		}
	}
}

func TestSeed(t *testing.T) {
	x, _ := clusters(3, 40, 5, 3, 3)
	o := Options{Perplexity: 10, Iterations: 100}
	first := embed(t, x, o)
	for _, processors := range []int{1, 7} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			before := runtime.GOMAXPROCS(processors)
			again := embed(t, x, o)
			runtime.GOMAXPROCS(before)
			if !slices.Equal(first, again) {
				t.Errorf("the same seed gives other bits on %d processors", processors)
			}
		})
	}
	o.Seed = 1
	if slices.Equal(first, embed(t, x, o)) {
		t.Error("another seed gives the same bits")
	}
}

// TestDegenerate embeds points that coincide, lie on a line, have one coordinate or are very few.
func TestDegenerate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	twins, _ := clusters(2, 30, 4, 5, 5)
	for i := range 20 {
		twins[i] = twins[0]
	}
	line := gaussian(r, 60, 1)
	for i := range line {
		line[i] = []float64{line[i][0], 2 * line[i][0], 0}
	}
	for name, c := range map[string]struct {
		x          [][]float64
		perplexity float64
	}{"twins": {twins, 10}, "line": {line, 10}, "one column": {gaussian(r, 60, 1), 10}, "few": {gaussian(r, 5, 3), 1.2}} {
		t.Run(name, func(t *testing.T) {
			got := embed(t, c.x, Options{Perplexity: c.perplexity, Iterations: 300})
			var low, high, mean [2]float64
			for _, p := range got {
				for a, v := range p {
					low[a], high[a] = min(low[a], v), max(high[a], v)
					mean[a] += v / float64(len(got))
				}
			}
			switch {
			case !(high[0]-low[0] > 1):
				t.Error("not (high[0]-low[0] > 1)")
			case !(high[1]-low[1] > 1):
				t.Error("not (high[1]-low[1] > 1)")
			case math.Hypot(mean[0], mean[1]) > 1e-9*high[0]:
				t.Errorf("math.Hypot(mean[0], mean[1]) is %g; want at most %g", math.Hypot(mean[0], mean[1]), 1e-9*high[0])
			}
		})
	}
}

func TestProgress(t *testing.T) {
	x, _ := clusters(3, 40, 5, 3, 6)
	var at []int
	var met []float64
	o := Options{Perplexity: 10, Iterations: 330, Progress: func(iteration int, kl float64) {
		at, met = append(at, iteration), append(met, kl)
	}}
	r := embed(t, x, o)
	if !slices.Equal(at, []int{50, 100, 150, 200, 250, 300, 330}) {
		t.Errorf("progress after %v iterations", at)
	}
	if first, last := met[0], met[len(met)-1]; last > first || !(last > 0) {
		t.Errorf("KL from %v to %v", first, last)
	}
	o.Progress = nil
	if !slices.Equal(embed(t, x, o), r) {
		t.Error("watching changes the result")
	}
}

func TestCancel(t *testing.T) {
	x, _ := clusters(3, 40, 5, 3, 8)
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Perplexity: 10, Progress: func(iteration int, _ float64) {
		if iteration == 100 {
			cancel()
		} else if iteration > 100 {
			t.Errorf("still at it in iteration %d", iteration)
		}
	}}
	for range 2 { // the second time ctx is done at the start
		if r, err := Embed(ctx, x, o); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("%v, %v", r, expect.Text(err))
		}
	}
}

func TestRefused(t *testing.T) {
	good, _ := clusters(2, 50, 3, 3, 9)
	with := func(row []float64) [][]float64 {
		x := slices.Clone(good)
		x[4] = row
		return x
	}
	for name, c := range map[string]struct {
		x [][]float64
		o Options
	}{
		"no data": {nil, Options{}}, "no numbers": {make([][]float64, 100), Options{}},
		"a short row": {with([]float64{1, 2}), Options{}},
		"NaN":         {with([]float64{1, math.NaN(), 2}), Options{}},
		"infinite":    {with([]float64{1, 2, math.Inf(-1)}), Options{}},
		"one point":   {slices.Repeat([][]float64{{1, 2}}, 100), Options{}}, "few points": {good, Options{Perplexity: 40}},
		"perplexity": {good, Options{Perplexity: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := Embed(t.Context(), c.x, c.o); err == nil || r != nil {
				t.Errorf("%v, %v", r, expect.Text(err))
			}
		})
	}
}

// TestInputIsKept checks that x is not written to.
func TestInputIsKept(t *testing.T) {
	x, _ := clusters(2, 50, 3, 3, 10)
	same, _ := clusters(2, 50, 3, 3, 10)
	embed(t, x, Options{Iterations: 10})
	for i := range x {
		if !slices.Equal(x[i], same[i]) {
			t.Fatalf("row %d was changed", i)
		}
	}
}

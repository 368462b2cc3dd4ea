package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestLayout checks the paper's MLP: no gap between parameters, the classifier last.
func TestLayout(t *testing.T) {
	net := must.Get(NewMLP(784, []int{128, 64}, 62))(t)
	l, at := net.Layout(), 0
	for _, p := range l.Params {
		if p.Offset != at {
			t.Errorf("%s begins at %d, want %d", p.Name, p.Offset, at)
		}
		at += p.Size()
	}
	if want := 784*128 + 128 + 128*64 + 64; l.Backbone != want || l.Total != want+64*62+62 || at != l.Total {
		t.Errorf("backbone %d, total %d, parameters up to %d", l.Backbone, l.Total, at)
	}
	if net.Key() != "mlp-784-[128 64]-62" {
		t.Errorf("key %q", net.Key())
	}
}

func TestInit(t *testing.T) {
	net := must.Get(NewMLP(50, []int{40}, 7))(t)
	l := net.Layout()
	draw := func(seed uint64) []float32 {
		theta, _ := l.Init(rand.New(rand.NewPCG(seed, 0)))
		return theta
	}
	theta := draw(1)
	if !slices.Equal(theta, draw(1)) || slices.Equal(theta, draw(2)) {
		t.Error("the parameters do not depend on the seed, and it alone")
	}
	for _, p := range l.Params {
		part := theta[p.Offset : p.Offset+p.Size()]
		if p.FanIn == 0 {
			if slices.Min(part) != 0 || slices.Max(part) != 0 {
				t.Errorf("%s does not start at 0", p.Name)
			}
			continue
		}
		bound, mean, square := math.Sqrt(6/float64(p.FanIn+p.FanOut)), 0.0, 0.0
		for _, v := range part {
			mean += float64(v) / float64(len(part))
			square += float64(v) * float64(v) / float64(len(part))
		}
		if float64(slices.Max(part)) > bound || float64(slices.Min(part)) < -bound || math.Abs(mean) > bound/5 ||
			math.Abs(square*3/bound/bound-1) > 0.2 {
			t.Errorf("%s: mean %g, mean square %g, up to %g; want uniform within ±%g", p.Name, mean, square,
				slices.Max(part), bound)
		}
	}
}

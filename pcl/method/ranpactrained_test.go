package method

import (
	"math/rand/v2"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/analytic"
)

// TestTemperature: where the sums predict held-out samples well, their scores count more than where
// these have random classes. Classes without sums are left out.
func TestTemperature(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sample := func(class int) []float32 {
		x := make([]float32, 8)
		for i := range x {
			x[i] = rng.Float32() / 2
		}
		x[class] += 0.5
		return x
	}
	m := analytic.New(&analytic.RanPAC{M: 40}, false)
	var good, random []heldOut
	for i := range 200 {
		must.Do(t, m.Add(1, i%2, sample(i%2)))
		good = append(good, heldOut{1, i % 2, sample(i % 2)})
		random = append(random, heldOut{1, rng.IntN(2), sample(i % 2)})
	}
	w := must.Get(m.Weights())(t)
	well, badly := must.Get(temperature(w, good, true))(t), must.Get(temperature(w, random, true))(t)
	if well <= 2 || badly != 1 {
		t.Errorf("temperatures %v and %v, want one above 2, and 1", well, badly)
	}
	if none := must.Get(temperature(w, []heldOut{{2, 7, sample(7)}}, true))(t); none != 1 {
		t.Errorf("temperature %v without samples of known classes, want 1", none)
	}
}

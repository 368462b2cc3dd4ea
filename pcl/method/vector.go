package method

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/jsonbits"
)

// vector is what a rule remembers of every parameter of a stream; it is saved as little-endian
// float32.
type vector = jsonbits.Vector[float32]

// track returns what is remembered of each stream of a step, zeros for a new one.
func track(s *Step, of func(id int) vector) ([]vector, error) {
	n, list := len(s.Rows[0]), make([]vector, s.k())
	for i, id := range s.IDs {
		if !storable(s.Rows[i]) {
			return nil, fmt.Errorf("the gradient of stream %d leaves the range of float32, in which the method keeps it; "+
				"rescale it", id)
		}
		switch list[i] = of(id); {
		case list[i] == nil:
			list[i] = make(vector, n)
		case len(list[i]) != n:
			return nil, fmt.Errorf("the gradient of stream %d has %d entries; it had %d before", id, n, len(list[i]))
		}
	}
	return list, nil
}

// storable says whether float32 can hold what matters of a row: no entry becomes infinite, and not
// all become 0 that are not.
func storable(row []float64) bool {
	zero, left := true, false
	for _, x := range row {
		if math.Abs(x) > math.MaxFloat32 {
			return false
		}
		zero, left = zero && x == 0, left || float32(x) != 0
	}
	return zero || left
}

// approach moves v by the fraction rate of the way to scale·row.
func approach(v vector, row []float64, scale, rate float64) {
	for p, x := range row {
		old := float64(v[p])
		v[p] = float32(old + rate*(scale*x-old))
	}
}

// product is the inner product of two vectors of one length.
func product(v, u vector) (sum float64) {
	for p, x := range v {
		sum += float64(x) * float64(u[p])
	}
	return sum
}

// combineVectors writes Σ wᵢvᵢ to d, which it returns.
func combineVectors(d []float64, vectors []vector, w []float64) []float64 {
	d = fp.Grow(d, len(vectors[0]))
	clear(d)
	for i, v := range vectors {
		if w[i] != 0 {
			for p, x := range v {
				d[p] += w[i] * float64(x)
			}
		}
	}
	return d
}

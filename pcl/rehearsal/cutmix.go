package rehearsal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// cutmix puts a box of another sample of the batch into each, one box for all (Yun et al., 2019,
// with α = 1). A mixed picture comes twice, once with each of its two labels; the two share its
// weight in the loss in proportion to their areas.
func cutmix(ctx Context, batch []memory.Item, r *rand.Rand) (samples []memory.Item, shares []float64, err error) {
	height, width, channels := ctx.Image()
	if n := len(batch[0].Pixels); height*width*channels != n || n == 0 {
		return nil, nil, fmt.Errorf("cutmix needs pictures: samples have %d values, which is not %d×%d×%d; set cutmix to 0",
			n, height, width, channels)
	}
	side := math.Sqrt(r.Float64()) // √(1−λ), λ uniform
	top, bottom := cut(height, side, r)
	left, right := cut(width, side, r)
	area := float64((bottom-top)*(right-left)) / float64(height*width)
	for i, other := range r.Perm(len(batch)) {
		a, b := batch[i], batch[other]
		a.Pixels = slices.Clone(a.Pixels)
		for y := top; y < bottom; y++ {
			from, to := (y*width+left)*channels, (y*width+right)*channels
			copy(a.Pixels[from:to], b.Pixels[from:to])
		}
		b.Pixels = a.Pixels
		samples = append(samples, a, b)
		shares = append(shares, (1-area)/float64(len(batch)), area/float64(len(batch)))
	}
	return samples, shares, nil
}

// cut is a range of the given part of n, at least 1, around a random place, and cut off at the
// ends.
func cut(n int, part float64, r *rand.Rand) (from, to int) {
	size := max(1, int(float64(n)*part))
	from = r.IntN(n) - size/2
	return max(from, 0), min(from+size, n)
}

package method

import "slices"

// toSimplex replaces y by the nearest point with entries ≥ 0 and sum 1.
func toSimplex(y []float64) {
	falling := slices.Clone(y)
	slices.Sort(falling)
	slices.Reverse(falling)
	top, sum, shift := falling[0], 0.0, 0.0
	for n, x := range falling { // relative to the top, so that large y keep their digits
		sum += x - top
		level := (sum - 1) / float64(n+1)
		if x-top <= level {
			break
		}
		shift = level
	}
	for i, x := range y {
		y[i] = max(0, x-top-shift)
	}
	toSum(y, 1)
}

// entered returns the shares of the streams of a step, on the simplex: a new one has 1/K, the
// others divide the rest in their proportions.
func entered(ids []int, share func(id int) (x float64, known bool)) []float64 {
	w, before, stayed := make([]float64, len(ids)), 0.0, 0
	for i, id := range ids {
		if x, known := share(id); known {
			w[i] = x
			before, stayed = before+x, stayed+1
		}
	}
	k := float64(len(ids))
	for i, id := range ids {
		if _, known := share(id); known && before > 0 {
			w[i] *= float64(stayed) / k / before
		} else {
			w[i] = 1 / k
		}
	}
	return w
}

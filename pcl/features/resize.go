package features

import "math"

// resizing returns the matrix [to,from] that takes a row of from pixels to one of to pixels, as
// PyTorch's bicubic interpolation does: without aligned corners, and if pixels become fewer with a
// wider kernel, so that none is left out.
func resizing(from, to int) []float32 {
	m := make([]float32, to*from)
	if from == to {
		for i := range to {
			m[i*from+i] = 1
		}
		return m
	}
	ratio := float64(from) / float64(to)
	wide, sharp := max(1, ratio), -0.75
	if ratio > 1 {
		sharp = -0.5
	}
	for i := range to {
		row, sum := make([]float64, from), 0.0
		centre := (float64(i)+0.5)*ratio - 0.5
		for at := int(math.Ceil(centre - 2*wide)); float64(at) <= centre+2*wide; at++ {
			if ratio > 1 && (at < 0 || at >= from) {
				continue // weighed among the pixels that there are
			}
			w := cubic(math.Abs(float64(at)-centre)/wide, sharp)
			row[min(max(at, 0), from-1)] += w
			sum += w
		}
		for j, w := range row {
			m[i*from+j] = float32(w / sum)
		}
	}
	return m
}

// cubic is the kernel of bicubic interpolation at a distance.
func cubic(x, a float64) float64 {
	switch {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((a*x-5*a)*x+8*a)*x - 4*a
	}
	return 0
}

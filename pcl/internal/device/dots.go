package device

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"
)

// lanes are four sums in float64, of every fourth product each: the order in which gonum's DDot adds up, so that its results
// and those of [dots] have the same bits.
type lanes [4]float64

// dotBlock is how many entries of four rows stay in the nearest cache.
const dotBlock = 1 << 10

// dots calls set with the inner products xᵢ·yⱼ of two and two rows of the same length, in float64. Both x, and both y, may be
// the same.
func dots(x, y [2][]float32, set func(i, j int, v float64)) {
	n := len(x[0])
	whole := n &^ 7
	if !blocked || whole == 0 || !aligned(y[0]) || !aligned(y[1]) {
		for i := range x {
			for j := range y {
				set(i, j, ddot(x[i], y[j]))
			}
		}
		return
	}
	var sums [4]lanes
	for from := 0; from < whole; from += dotBlock {
		dots2(min(dotBlock, whole-from), &x[0][from], &x[1][from], &y[0][from], &y[1][from], &sums)
	}
	for i := range x {
		for j := range y {
			set(i, j, sums[2*i+j].end(x[i][whole:], y[j][whole:]))
		}
	}
}

// end adds the products of fewer than eight entries, and returns the sum of all.
func (s lanes) end(x, y []float32) float64 {
	even, odd := s[0]+s[2], s[1]+s[3]
	for ; len(x) > 1; x, y = x[2:], y[2:] {
		even += float64(x[0]) * float64(y[0])
		odd += float64(x[1]) * float64(y[1])
	}
	if len(x) > 0 {
		even += float64(x[0]) * float64(y[0])
	}
	return even + odd
}

func ddot(x, y []float32) float64 {
	return blas32.DDot(blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
}

// aligned says that gonum's DDot begins with whole groups.
func aligned(y []float32) bool { return uintptr(unsafe.Pointer(&y[0]))%16 == 0 }

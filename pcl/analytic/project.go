package analytic

import "github.com/parallelcl/parallelcl/internal/seed"

// signs is a random matrix R of ±1 with d rows. Its rows stand in groups of eight, whose signs in
// one column are the bits of a byte: 1 for +1, 0 for -1, and for rows beyond the last.
type signs struct {
	d      int
	groups [][]uint8
}

const (
	inGroup  = 8
	atOnce   = 4 // groups that are added in one pass over the columns
	perTable = 1 << inGroup
)

// drawSigns draws R. R depends on d, the number of columns and the seed alone.
func drawSigns(from uint64, d, columns int) *signs {
	groups := (d + inGroup - 1) / inGroup
	r := &signs{d, make([][]uint8, (groups+atOnce-1)/atOnce*atOnce)}
	for g := range r.groups {
		r.groups[g] = make([]uint8, columns)
	}
	rng := seed.New(from, "ranpac", d, columns)
	for i := range d {
		group, bit := r.groups[i/inGroup], i%inGroup
		for j := range group {
			group[j] |= uint8(rng.Uint64()>>63) << bit
		}
	}
	return r
}

// project writes min(255, ⌊max(0, xR)/16⌋) to out. With B, which has 1 where R has +1 and else 0,
// xR = 2·xB − Σx. For each group a table has the sums of all its 256 subsets, so that a column
// takes one addition for eight features. All are whole numbers below 2²⁴, since there are fewer
// than 2¹⁶ features.
func (r *signs) project(x []uint8, out []float32) {
	sums := make([]uint32, len(out))
	var t [atOnce][perTable]uint32
	total := int64(0)
	for _, v := range x {
		total += int64(v)
	}
	for g := 0; g < len(r.groups); g += atOnce {
		for k := range t {
			subsets(x[min(len(x), (g+k)*inGroup):min(len(x), (g+k+1)*inGroup)], &t[k])
		}
		a, b := r.groups[g][:len(sums)], r.groups[g+1][:len(sums)]
		c, e := r.groups[g+2][:len(sums)], r.groups[g+3][:len(sums)]
		for j := range sums {
			sums[j] += t[0][a[j]] + t[1][b[j]] + t[2][c[j]] + t[3][e[j]]
		}
	}
	for j, v := range sums {
		out[j] = float32(min(255, max(0, 2*int64(v)-total)/fraction))
	}
}

// subsets writes the sum of x for each choice of its bits.
func subsets(x []uint8, sums *[perTable]uint32) {
	sums[0] = 0
	for k := range inGroup {
		v := uint32(0)
		if k < len(x) {
			v = uint32(x[k])
		}
		for lower := range 1 << k {
			sums[1<<k+lower] = sums[lower] + v
		}
	}
}

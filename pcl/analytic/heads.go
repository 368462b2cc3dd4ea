package analytic

import (
	"slices"
	"sync"
)

// A Head says what is added up and how weights follow from the sums.
type Head interface {
	// width returns of how many columns the sums are, for samples of d features.
	width(d int) int
	// products says whether the sums have the products of each two columns.
	products() bool
	// columns are the whole numbers that are added up, and that the weights are for.
	columns(x [][]uint8) [][]float32
	// solve returns the weights: of each column for each class, whose order is that of s.ids, and
	// what is added to the class's score. It may change s.
	solve(s *sums) (weights [][]float64, added []float64, err error)
}

// ClassMeans scores a class by the cosine of its mean with the sample (SimpleCIL).
type ClassMeans struct{}

func (ClassMeans) width(d int) int                 { return d }
func (ClassMeans) products() bool                  { return false }
func (ClassMeans) columns(x [][]uint8) [][]float32 { return numbers(x) }

func (ClassMeans) solve(s *sums) ([][]float64, []float64, error) {
	ids := s.ids()
	w := rightSides(s, ids, func(c *classSum) float64 { return 1 / max(1, blas.Dnrm2(len(c.s), c.s, 1)) })
	return w, make([]float64, len(ids)), nil
}

// LDA is linear discriminant analysis: one covariance for all classes, shrunk by D/(D+n) towards
// its mean variance.
type LDA struct{}

func (LDA) width(d int) int                 { return d }
func (LDA) products() bool                  { return true }
func (LDA) columns(x [][]uint8) [][]float32 { return numbers(x) }

func (LDA) solve(s *sums) ([][]float64, []float64, error) {
	ids, a, d := s.ids(), s.gram, s.gram.n
	within := 1 / float64(max(1, s.n-len(ids)))
	shrink := float64(d) / float64(d+s.n)
	const rows = 16
	each((d+rows-1)/rows, func(k int) {
		for i := k * rows; i < min(d, (k+1)*rows); i++ {
			row := a.row(i, i, d)
			for _, id := range ids {
				c := s.classes[id]
				blas.Daxpy(len(row), -c.s[i]/float64(c.n), c.s[i:], 1, row, 1)
			}
			blas.Dscal(len(row), (1-shrink)*within, row, 1)
		}
	})
	variance := a.trace() / float64(d) * shrink / (1 - shrink)
	a.lift(variance)
	if err := cholesky(a); err != nil {
		return nil, nil, err
	}
	means := rightSides(s, ids, func(c *classSum) float64 { return 1 / float64(c.n) })
	w := clones(means)
	a.solve(w)
	added := make([]float64, len(ids))
	for i := range w {
		for k := range added {
			added[k] -= means[i][k] * w[i][k] / 2
		}
	}
	return w, added, nil
}

// RanPAC is ridge regression on M random features, max(0, xR)/16 with R of ±1 (arXiv 2307.02251). λ
// is 0.03 of the mean square of a random feature, times n.
type RanPAC struct {
	M    int
	Seed uint64

	drawing sync.Mutex
	r       *signs // made for the first samples
}

const (
	ridge    = 0.03
	fraction = 16 // by which projections are divided to become bytes
)

func (h *RanPAC) width(int) int  { return h.M }
func (h *RanPAC) products() bool { return true }

// draw makes R for d features.
func (h *RanPAC) draw(d int) *signs {
	h.drawing.Lock()
	defer h.drawing.Unlock()
	if h.r == nil || h.r.d != d {
		h.r = drawSigns(h.Seed, d, h.M)
	}
	return h.r
}

func (h *RanPAC) columns(x [][]uint8) [][]float32 {
	out := make([][]float32, len(x))
	if len(x) == 0 {
		return out
	}
	r := h.draw(len(x[0]))
	each(len(x), func(i int) {
		out[i] = make([]float32, h.M)
		r.project(x[i], out[i])
	})
	return out
}

func (h *RanPAC) solve(s *sums) ([][]float64, []float64, error) {
	ids, a := s.ids(), s.gram
	a.lift(ridge * a.trace() / float64(a.n))
	if err := cholesky(a); err != nil {
		return nil, nil, err
	}
	w := rightSides(s, ids, func(*classSum) float64 { return 1 })
	a.solve(w)
	return w, make([]float64, len(ids)), nil
}

// lift adds a positive number to the diagonal, or 1 where it is 0, as without any spread.
func (p packed) lift(by float64) {
	if !(by > 0) {
		by = 1
	}
	for i := range p.n {
		*p.diagonal(i) += by
	}
}

// numbers are the bytes of samples as float32.
func numbers(x [][]uint8) [][]float32 {
	out := make([][]float32, len(x))
	for i, bytes := range x {
		out[i] = make([]float32, len(bytes))
		for k, b := range bytes {
			out[i][k] = float32(b)
		}
	}
	return out
}

// rightSides has a row for each column of the sums, with the classes' sums times factors.
func rightSides(s *sums, ids []int, factor func(*classSum) float64) [][]float64 {
	out := make([][]float64, len(s.classes[ids[0]].s))
	for i := range out {
		out[i] = make([]float64, len(ids))
	}
	for k, id := range ids {
		c := s.classes[id]
		f := factor(c)
		for i, v := range c.s {
			out[i][k] = v * f
		}
	}
	return out
}

func clones(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
	}
	return out
}

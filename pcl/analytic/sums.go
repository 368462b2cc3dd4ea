package analytic

import (
	"maps"
	"slices"
)

// block is how many rows of 8-bit values float32 can add the products of: 256·255² is below 2²⁴, up
// to which it holds all whole numbers.
const block = 256

// sums are what a head solves from: the sum of the products of each two features, and for each
// class the sum of the features and the number of samples. All are whole numbers; below 2⁵³, the
// limit of some 10¹¹ samples, float64 holds them exactly.
type sums struct {
	gram    packed // without entries for heads that do not need it
	classes map[int]*classSum
	n       int
}

type classSum struct {
	n int
	s []float64
}

func newSums(width int, gram bool) *sums {
	s := &sums{classes: map[int]*classSum{}}
	if gram {
		s.gram = newPacked(width)
	}
	return s
}

// add adds samples of whole numbers from 0 to 255 to the sums, or takes them from there, where sign
// is -1.
func (s *sums) add(rows [][]float32, classes []int, sign int) {
	for i, row := range rows {
		c := s.classes[classes[i]]
		if c == nil {
			c = &classSum{s: make([]float64, len(row))}
			s.classes[classes[i]] = c
		}
		for k, v := range row {
			c.s[k] += float64(sign) * float64(v)
		}
		c.n += sign
		s.n += sign
	}
	for some := range slices.Chunk(rows, block) {
		s.products(some, float64(sign))
	}
	s.forgetEmpty()
}

// products adds the products of each two columns of at most block rows.
func (s *sums) products(rows [][]float32, sign float64) {
	const columns = 1024
	all := tiles(0, s.gram.n, columns)
	each(len(all), func(k int) {
		t, sum := all[k], make([]float32, columns)
		for i := t.i0; i < t.i1; i++ {
			lo := max(i, t.j0)
			part := sum[:t.j1-lo]
			clear(part)
			for _, row := range rows {
				if row[i] != 0 {
					blas.Saxpy(len(part), row[i], row[lo:t.j1], 1, part, 1)
				}
			}
			to := s.gram.row(i, lo, t.j1)
			for j, v := range part {
				to[j] += sign * float64(v)
			}
		}
	})
}

// take takes other sums from these.
func (s *sums) take(o *sums) {
	blas.Daxpy(len(s.gram.v), -1, o.gram.v, 1, s.gram.v, 1)
	for id, c := range o.classes {
		own := s.classes[id]
		blas.Daxpy(len(c.s), -1, c.s, 1, own.s, 1)
		own.n -= c.n
	}
	s.n -= o.n
	s.forgetEmpty()
}

func (s *sums) forgetEmpty() {
	maps.DeleteFunc(s.classes, func(_ int, c *classSum) bool { return c.n == 0 })
}

func (s *sums) ids() []int { return slices.Sorted(maps.Keys(s.classes)) }

// clone copies the sums for a solution beside training.
func (s *sums) clone() *sums {
	c := &sums{packed{s.gram.n, slices.Clone(s.gram.v)}, map[int]*classSum{}, s.n}
	for id, of := range s.classes {
		c.classes[id] = &classSum{of.n, slices.Clone(of.s)}
	}
	return c
}

package method

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// sample is the gradients of one step: rows[0] is the memory's where there are two or more.
type sample struct {
	name   string
	rows   [][]float64
	losses []float64
}

// kinds are the situations that multi-gradient methods stumble over; k rows of length n each.
var kinds = map[string]func(r *rand.Rand, k, n int) [][]float64{
	"normal": gaussian,
	"strongly stationary": func(r *rand.Rand, k, n int) [][]float64 { // Σ Jᵢ = 0
		rows := gaussian(r, k, n)
		clear(rows[0])
		for _, row := range rows[1:] {
			add(rows[0], -1, row)
		}
		return rows
	},
	"weakly stationary": func(r *rand.Rand, k, n int) [][]float64 { // two rows cancel, the others do not matter
		rows := gaussian(r, k, n)
		clear(rows[0])
		add(rows[0], -2, rows[k-1])
		return rows
	},
	"rank 2": func(r *rand.Rand, k, n int) [][]float64 {
		rows, base := make([][]float64, k), gaussian(r, 2, n)
		for i := range rows {
			rows[i] = make([]float64, n)
			add(rows[i], r.NormFloat64(), base[0])
			add(rows[i], r.NormFloat64(), base[1])
		}
		return rows
	},
	"one zero": func(r *rand.Rand, k, n int) [][]float64 {
		rows := gaussian(r, k, n)
		clear(rows[k-1])
		return rows
	},
	"all zero": func(r *rand.Rand, k, n int) [][]float64 { return scaled(gaussian(r, k, n), 0) },
	"duplicates": func(r *rand.Rand, k, n int) [][]float64 {
		rows := gaussian(r, k, n)
		for i := range rows {
			rows[i] = rows[0]
		}
		return rows
	},
	"opposites": func(r *rand.Rand, k, n int) [][]float64 {
		rows := gaussian(r, k, n)
		for i := 1; i < k; i++ {
			clear(rows[i])
			add(rows[i], -1, rows[i-1])
		}
		return rows
	},
	"mixed lengths": func(r *rand.Rand, k, n int) [][]float64 {
		rows := gaussian(r, k, n)
		for i := range rows {
			scaled(rows[i:i+1], math.Pow(10, float64(r.IntN(13)-6)))
		}
		return rows
	},
}

func gaussian(r *rand.Rand, k, n int) [][]float64 {
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = make([]float64, n)
		for p := range rows[i] {
			rows[i][p] = r.NormFloat64()
		}
	}
	return rows
}

func scaled(rows [][]float64, by float64) [][]float64 {
	for _, row := range rows {
		for p := range row {
			row[p] *= by
		}
	}
	return rows
}

// add adds a·x to d.
func add(d []float64, a float64, x []float64) {
	for p := range d {
		d[p] += a * x[p]
	}
}

// zoo has a sample of the given kind for each number of rows and length of the gradients.
func zoo(kind string) (samples []sample) {
	for _, k := range []int{1, 2, 3, 5, 8, 12} {
		for _, scale := range []float64{1e-15, 1, 1e15} {
			r := rand.New(rand.NewPCG(uint64(k), 5))
			rows := kinds[kind](r, k, k+3)
			if kind == "duplicates" {
				scaled(rows[:1], scale)
			} else {
				scaled(rows, scale)
			}
			s := sample{name: fmt.Sprintf("%s, %d rows × %g", kind, k, scale), rows: rows}
			for range k {
				s.losses = append(s.losses, 0.1+3*r.Float64())
			}
			samples = append(samples, s)
		}
	}
	return samples
}

// step is what the engine would offer: ids 0, 1, …, or 1 alone; draws from the given seed.
func (s sample) step(seed uint64) *Step {
	out := &Step{Losses: s.losses, Gram: gramOf(s.rows), Rows: s.rows, Cross: gramOf(s.rows),
		Rand: rand.New(rand.NewPCG(seed, 0))}
	for i := range s.rows {
		out.IDs = append(out.IDs, i)
	}
	if len(s.rows) == 1 {
		out.IDs[0] = 1
	}
	return out
}

func gramOf(rows [][]float64) []float64 {
	var m []float64
	for _, a := range rows {
		for _, b := range rows {
			v := 0.0
			for p := range a {
				v += a[p] * b[p]
			}
			m = append(m, v)
		}
	}
	return m
}

// direction is d = Σ wᵢJᵢ.
func direction(rows [][]float64, w []float64) []float64 {
	d := make([]float64, len(rows[0]))
	for i, row := range rows {
		add(d, w[i], row)
	}
	return d
}

// life is a run in which streams come and go at every step, beside a memory that is there in most
// of them.
type life struct {
	rng  *rand.Rand
	ids  []int
	next int
}

func newLife() *life {
	return &life{rng: rand.New(rand.NewPCG(3, 4)), ids: []int{1}, next: 2}
}

// step lets a stream join or leave, and tells which one left. Of the memory's rows some take part.
func (l *life) step(draws *rand.Rand, memory []int) (s *Step, left int) {
	if n := len(l.ids); n < 8 && (n == 1 || l.rng.IntN(2) == 0) {
		l.ids = append(l.ids, l.next)
		l.next++
	} else {
		i := l.rng.IntN(n)
		left = l.ids[i]
		l.ids = append(l.ids[:i:i], l.ids[i+1:]...)
	}
	ids := slices.Concat(memory[:l.rng.IntN(len(memory)+1)], l.ids)
	rows := gaussian(l.rng, len(ids), 6)
	scaled(rows, math.Exp(l.rng.NormFloat64()))
	s = &Step{IDs: ids, Gram: gramOf(rows), Rows: rows, Cross: gramOf(rows), Rand: draws}
	for range ids {
		s.Losses = append(s.Losses, l.rng.ExpFloat64())
	}
	return s, left
}

package method

import (
	"math"
	"math/rand/v2"
	"testing"
)

// copies returns k rows that differ from one vector by noise; groups of them from several.
func copies(r *rand.Rand, k, columns, groups int, noise float64) [][]float64 {
	base, rows := gaussian(r, groups, columns), gaussian(r, k, columns)
	for i, row := range rows {
		for p := range row {
			row[p] = noise*row[p] + base[i%groups][p]
		}
	}
	return rows
}

// TestManyRows: rules with another algorithm for many rows still find what they are for.
func TestManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for kind, rows := range map[string][][]float64{
		"any": gaussian(r, 100, 110), "few columns": gaussian(r, 100, 20), "near copies": copies(r, 100, 40, 1, 1e-9),
		"copies": copies(r, 100, 40, 1, 0), "groups": copies(r, 100, 40, 5, 1e-6),
	} {
		t.Run(kind, func(t *testing.T) {
			s := sample{rows: rows}.step(1)
			if gap := cappedGap(s.Gram, weigh(t, build(t, "capped-mgda", nil), s), 0.5); !(gap <= 1e-9) {
				t.Errorf("capped-mgda is %g from the minimum", gap)
			}
		})
	}
}

// TestLonger: the length that is kept of a sum of many rows is the one that is summed up anew, also
// where it shrinks.
func TestLonger(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for kind, rows := range map[string][][]float64{"any": gaussian(r, 60, 70), "copies": copies(r, 60, 70, 1, 1e-7)} {
		t.Run(kind, func(t *testing.T) {
			s := sample{rows: rows}.step(1)
			all := keep(s, make([]float64, s.k()))
			c := make([]float64, s.k())
			c[0] = 1
			length := normOf(all.gram, c)
			for j := 1; j < s.k(); j++ {
				along := all.along(j, c)
				c[j] = r.NormFloat64() - 0.4
				length = all.longer(length, along, j, c)
				if want := normOf(all.gram, c); math.Abs(length-want) > 1e-8*want+1e-6*all.size(c) {
					t.Fatalf("after row %d the length is %g, want %g", j, length, want)
				}
			}
		})
	}
}

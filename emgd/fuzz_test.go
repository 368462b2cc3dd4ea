package emgd

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzSolve reads gradients, factors and a floor from bytes: any finite rows give finite weights
// that satisfy the constraint and, within what the status promises, the conditions; anything else
// gives an error and no panic.
func FuzzSolve(f *testing.F) {
	f.Add([]byte{2, 3, 0, 0, 10, 20, 30, 40, 50, 60, 70})
	f.Add([]byte{5, 2, 1, 90, 255, 1, 128, 0, 0, 0, 0, 7, 249, 3, 253, 64, 192, 2, 254})
	f.Add([]byte{19, 4, 2, 128, 1, 2, 3, 4, 5, 6, 7, 8, 9, 200, 210, 220, 230, 240, 250, 11, 12, 13})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := fuzzProblem(data)
		if p == nil {
			return
		}
		q, err := NewProblem(p.gram)
		if err != nil {
			return
		}
		c, err := p.solver().Solve(q, p.sigma)
		if err != nil {
			return
		}
		for i, l := range c.Lambda {
			if !(l >= 0) || math.IsInf(l, 1) || math.IsNaN(c.Slacks[i]) {
				t.Fatalf("λ = %v, slacks = %v", c.Lambda, c.Slacks)
			}
		}
		if p.kind == "raw" {
			return // need not be the Gram matrix of any gradients
		}
		limit := exact
		switch c.Status {
		case IllConditioned:
			limit = illConditioned(c)
		case IterationLimit:
			t.Fatalf("iteration limit: violation %v", c.Violation)
		}
		if v, e := judge(p, c); v > 2*limit || e > 1e-9 {
			t.Fatalf("K=%d %v: violation %v, |Σλσ−1| = %v, cancellation %v", p.k(), c.Status, v, e, c.Cancellation)
		}
	})
}

// fuzzProblem spells out rows of small integers, which make exact and near dependences likely, with
// an exponent for each, or (mode 3) the raw bits of a Gram matrix.
func fuzzProblem(data []byte) *problem {
	if len(data) < 4 {
		return nil
	}
	next := func() float64 {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return float64(int8(b))
	}
	k, dim := 1+int(data[0])%20, 1+int(data[1])%8
	mode, floor := data[2], data[3]
	data = data[4:]
	p := &problem{zeroTol: -1, sigma: make([]float64, k)}
	if mode&4 != 0 {
		p.zero = Keep
	}
	sum := 0.0
	for i := range p.sigma {
		p.sigma[i] = math.Abs(next())
		if mode&8 != 0 {
			p.sigma[i] = math.Exp(next() / 8)
		}
		sum += p.sigma[i]
	}
	if floor > 128 && sum > 0 {
		p.floor = float64(floor-128) / 127 / sum
	}
	if mode&3 == 3 {
		p.gram, p.kind = make([]float64, k*k), "raw"
		for i := range p.gram {
			if len(data) >= 8 {
				p.gram[i] = math.Float64frombits(binary.LittleEndian.Uint64(data))
				data = data[8:]
			}
		}
		return p
	}
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = make([]float64, dim)
		exponent := 0.0
		if mode&1 != 0 {
			exponent = next() * 15 / 128
		}
		for q := range rows[i] {
			rows[i][q] = next() * math.Pow(10, exponent)
		}
	}
	p.gram = gramOf(rows)
	return p
}

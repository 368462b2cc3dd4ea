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
		p, raw := fuzzProblem(data)
		if raw == nil && p == nil {
			return
		}
		if raw == nil {
			if err := p.check(map[string]int{}); err != nil {
				t.Fatal(err)
			}
			return
		}
		q, err := NewProblem(raw)
		if err != nil {
			return
		}
		c, err := p.solver.Solve(q, p.sigma)
		if err != nil {
			return
		}
		for i, l := range c.Lambda {
			switch {
			case !(l >= 0):
				t.Fatal("not (l >= 0)")
			case math.IsInf(l, 1):
				t.Fatal("math.IsInf(l, 1) is true")
			case math.IsNaN(c.Slacks[i]):
				t.Fatal("math.IsNaN(c.Slacks[i]) is true")
			}
		}
	})
}

// fuzzProblem spells out rows of small integers, which make exact and near dependences likely, with
// an exponent for each, or (mode 3) the raw bits of a Gram matrix, which need not be that of any
// gradients.
func fuzzProblem(data []byte) (p *instance, raw []float64) {
	if len(data) < 4 {
		return nil, nil
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
	p = &instance{gram: true, near: true, solver: Solver{ZeroTol: -1}, sigma: make([]float64, k)}
	sum := 0.0
	for i := range p.sigma {
		p.sigma[i] = math.Abs(next())
		if mode&8 != 0 {
			p.sigma[i] = math.Exp(next() / 8)
		}
		sum += p.sigma[i]
	}
	if floor > 128 && sum > 0 {
		p.solver.Floor = float64(floor-128) / 127 / sum
	}
	if mode&3 == 3 {
		raw = make([]float64, k*k)
		for i := range raw {
			if len(data) >= 8 {
				raw[i] = math.Float64frombits(binary.LittleEndian.Uint64(data))
				data = data[8:]
			}
		}
		return p, raw
	}
	if sum == 0 {
		return nil, nil
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
	p.rows = rows
	return p, nil
}

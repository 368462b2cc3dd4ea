package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// mostRows returns how many weighted gradients [Set.fold] leaves at most.
func mostRows(s *Set) int {
	if onHost(s) {
		return 1
	}
	return maxRows
}

// fold replaces weighted gradients by their sum, with weight 1, if there are more than [mostRows].
// sum is that buffer, which must be freed; nil if there are fewer. They are added up in their
// order, so that the result is, to the bit, that of a program which takes all of them.
func (p *Set) fold(w []float64, rows []compute.Buffer) (weights []float32, of []compute.Buffer, sum compute.Buffer,
	err error) {
	if len(rows) <= mostRows(p) {
		return single(w), rows, nil, nil
	}
	if onHost(p) {
		var d []float32
		if d, sum, err = program.Shared[float32](p.Backend, p.total()); err != nil {
			return nil, nil, nil, err
		}
		if _, _, err := direction(d, p.Shared, w, rows); err != nil {
			program.Free(sum)
			return nil, nil, nil, err
		}
	} else if sum, err = p.addUp(w, rows); err != nil {
		return nil, nil, nil, err
	}
	return []float32{1}, []compute.Buffer{sum}, sum, nil
}

// addUp adds rows up on the device, by programs of a fixed number of rows: where there are fewer,
// the first one fills them up, with weight 0.
func (p *Set) addUp(w []float64, rows []compute.Buffer) (sum compute.Buffer, err error) {
	for at := 0; at < len(rows); at += maxRows {
		shared, private := make([]float32, maxRows), make([]float32, maxRows)
		fill := slices.Repeat(rows[at:at+1], maxRows)
		for i := range copy(fill, rows[at:]) {
			shared[i], private[i] = float32(w[at+i]), 1
		}
		if sum == nil {
			sum, err = p.sumOf(shared, fill)
		} else {
			sum, err = p.addTo(sum, shared, private, fill)
		}
		if err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// sumOf returns the weighted sum of the first rows.
func (p *Set) sumOf(weights []float32, rows []compute.Buffer) (compute.Buffer, error) {
	sum, err := p.sum()
	if err != nil {
		return nil, err
	}
	out, err := sum.Call(weights, rows)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// addTo adds rows to a sum, which it frees.
func (p *Set) addTo(sum compute.Buffer, shared, private []float32, rows []compute.Buffer) (compute.Buffer, error) {
	defer program.Free(sum)
	add, err := p.add()
	if err != nil {
		return nil, err
	}
	out, err := add.Call(sum, shared, private, rows)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

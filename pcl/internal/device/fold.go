package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// Most returns how many weighted gradients [Fold] leaves at most.
func Most(s *graphs.Set) int {
	if onHost(s) {
		return 1
	}
	return graphs.Most
}

// Fold replaces weighted gradients by their sum, with weight 1, if there are more than [Most]. sum is that buffer, which must be
// freed; nil if there are fewer. They are added up in their order, so that the result is, to the bit, that of a program which
// takes all of them.
func Fold(s *graphs.Set, w []float64, rows []compute.Buffer) (weights []float64, of []compute.Buffer, sum compute.Buffer, err error) {
	if len(rows) <= Most(s) {
		return w, rows, nil, nil
	}
	if onHost(s) {
		d, sum, err := program.Shared[float32](s.Backend, s.Total())
		if err != nil {
			return nil, nil, nil, err
		}
		if _, _, err := direction(d, s.Shared, w, rows); err != nil {
			program.Free(sum)
			return nil, nil, nil, err
		}
		return []float64{1}, []compute.Buffer{sum}, sum, nil
	}
	p, err := s.Sum()
	for at := 0; err == nil && at < len(rows); at += graphs.Most {
		var next compute.Buffer
		next, err = addTo(s.Backend, sum, p, w[at:], rows[at:])
		program.Free(sum)
		sum = next
		if err == nil {
			p, err = s.Add()
		}
	}
	if err != nil {
		program.Free(sum)
		return nil, nil, nil, err
	}
	return []float64{1}, []compute.Buffer{sum}, sum, nil
}

// addTo adds the first of the given rows to a sum, which is nil at first. A program has a fixed number of rows: where there
// are fewer, the first one fills it up, with weight 0.
func addTo(backend compute.Backend, sum compute.Buffer, p *program.Program, w []float64, rows []compute.Buffer) (compute.Buffer, error) {
	shared, private := make([]float32, graphs.Most), make([]float32, graphs.Most)
	fill := slices.Repeat(rows[:1], graphs.Most)
	for i := range copy(fill, rows) {
		shared[i], private[i] = float32(w[i]), 1
	}
	var in []compute.Buffer
	weights := [][]float32{shared}
	if sum != nil {
		in, weights = append(in, sum), append(weights, private)
	}
	for _, x := range weights {
		b, err := program.ToDevice(backend, x, len(x))
		if err != nil {
			return nil, err
		}
		defer program.Free(b)
		in = append(in, b)
	}
	out, err := p.Call(append(in, fill...)...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

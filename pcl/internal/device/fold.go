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
func Fold(s *graphs.Set, w []float64, rows []compute.Buffer) (weights []float64, of []compute.Buffer, sum compute.Buffer) {
	if len(rows) <= Most(s) {
		return w, rows, nil
	}
	if onHost(s) {
		var d []float32
		d, sum = program.Shared[float32](s.Backend, s.Total())
		direction(d, s.Shared, w, rows)
	} else {
		sum = addUpOn(s, w, rows)
	}
	return []float64{1}, []compute.Buffer{sum}, sum
}

// addUpOn adds rows up on the device, by programs of a fixed number of rows: where there are fewer, the first one fills them up,
// with weight 0.
func addUpOn(s *graphs.Set, w []float64, rows []compute.Buffer) (sum compute.Buffer) {
	p := s.Sum()
	for at := 0; at < len(rows); at += graphs.Most {
		shared, private := make([]float32, graphs.Most), make([]float32, graphs.Most)
		fill := slices.Repeat(rows[at:at+1], graphs.Most)
		for i := range copy(fill, rows[at:]) {
			shared[i], private[i] = float32(w[at+i]), 1
		}
		in := []compute.Buffer{program.ToDevice(s.Backend, shared, graphs.Most)}
		if sum != nil {
			in = append([]compute.Buffer{sum}, append(in, program.ToDevice(s.Backend, private, graphs.Most))...)
			p = s.Add()
		}
		next := p.Call(append(in, fill...)...)[0]
		program.Free(in...)
		sum = next
	}
	return sum
}

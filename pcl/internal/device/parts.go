package device

import (
	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// parts is a copy of θ on a client of XLA that shares memory with the host, with a tensor for each
// parameter. A program that takes θ whole cuts it up first, and so copies as much for each
// gradient.
type parts struct {
	buffers []compute.Buffer
	values  [][]float32
}

// TakesParts says that programs for a client are to take the parts of θ.
func TakesParts(client compute.Backend) bool {
	return client.Name() == "xla" && client.HasSharedBuffers()
}

// PartsOf returns a buffer for each of the tensors that a vector has.
func PartsOf(client compute.Backend, flat []float32, tensors []model.Param) (all []compute.Buffer, err error) {
	for _, t := range tensors {
		b, err := program.ToDevice(client, flat[t.Offset:t.Offset+t.Size()], t.Dims...)
		if err != nil {
			program.Free(all...)
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// stacks says that one program is to compute the gradients of n rows of a step. It pays for
// networks so small that calls take long beside their work.
func stacks(s *Set, l rehearsal.Loss, n int) bool {
	layout := s.Model.Layout()
	return n > 1 && TakesParts(s.Backend) && layout.Total < 1<<20 && layout.StatsTotal == 0 && s.often(l, n)
}

// of returns what the gradients of a step are computed at: the parts of θ, valid until the next
// call, or θ itself.
func (p *parts) of(s *Set, theta compute.Buffer) ([]compute.Buffer, error) {
	if !TakesParts(s.Backend) {
		return []compute.Buffer{theta}, nil
	}
	flat, err := program.Read[float32](theta, s.total())
	if err != nil {
		return nil, err
	}
	for i, t := range s.Model.Layout().Params {
		if i == len(p.buffers) {
			values, b, err := program.Shared[float32](s.Backend, t.Dims...)
			if err != nil {
				return nil, err
			}
			p.buffers, p.values = append(p.buffers, b), append(p.values, values)
		}
		copy(p.values[i], flat[t.Offset:])
	}
	return p.buffers, nil
}

func (p *parts) free() {
	program.Free(p.buffers...)
	*p = parts{}
}

package pcl

import "github.com/parallelcl/parallelcl/pcl/internal/device"

// scratch owns batches and vectors that steps use again, so as not to make them anew. Their
// contents are of no use to a later step.
type scratch struct {
	replayed []*device.Batch // one for each row of the memory
	one      *device.Batch   // for the samples that a method, or the search for bad samples, asks about
	penalty  []float32       // the gradient of a penalty, which is 0 for the private parameters
	mean     []float32       // the mean of the tasks' gradients
}

// replay returns the batch of the memory's i-th row, where all before it have been asked for.
func (s *scratch) replay(i int, n *network) (*device.Batch, error) {
	if i == len(s.replayed) {
		batch, err := n.programs.Lane(0).NewBatch()
		if err != nil {
			return nil, err
		}
		s.replayed = append(s.replayed, batch)
	}
	return s.replayed[i], nil
}

// batch returns the batch for the samples that somebody asks about.
func (s *scratch) batch(n *network) (*device.Batch, error) {
	if s.one == nil {
		var err error
		if s.one, err = n.programs.Lane(0).NewBatch(); err != nil {
			return nil, err
		}
	}
	return s.one, nil
}

func (s *scratch) free() {
	for _, b := range append(s.replayed, s.one) {
		b.Free()
	}
	*s = scratch{}
}

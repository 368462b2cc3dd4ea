package pcl

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// finiteRow says whether a row has a finite loss and gradient. The diagonal of gram holds the
// squared norms of the gradients over the shared parameters. An update adds gradients up in
// float32, so a squared norm that is beyond the range of float32 counts as not finite.
func finiteRow(r *device.Row, gram []float64, i, rows int) bool {
	return finite(r.Value) && r.Private+gram[i*rows+i] <= math.MaxFloat32
}

// leaveOut takes samples out of rows whose loss or gradient is not finite, if these samples are the
// cause. A sample of huge values then costs its own part of a step, and not the rest of its batch.
// The gradients of such rows have to be computed again.
func (s *step) leaveOut(gram []float64) (again bool, err error) {
	for i := range s.rows {
		r := &s.rows[i]
		if r.Batch == nil || r.Batch.N < 2 || finiteRow(&r.Row, gram, i, len(s.rows)) {
			continue
		}
		bad, err := s.badSamples(r)
		if err != nil {
			return false, err
		}
		if bad != nil {
			if err := s.without(r, bad); err != nil {
				return false, err
			}
			again = true
		}
	}
	return again, nil
}

// badSamples returns the places of the samples that make a row's loss or gradient infinite or NaN.
// It returns nil if leaving samples out does not help, for example because the network is broken.
// It tries the likeliest first: samples whose own loss is not finite, then those with the largest
// loss or value. It doubles their number until the row is finite, and then halves the interval, so
// that a batch of B samples takes about 2 log B gradients.
func (s *step) badSamples(r *row) (bad []int, err error) {
	n, hidden := r.Batch.N, 0
	fault, err := s.network.programs.Losses(s.network.now(), r.Batch, r.Loss)
	if err != nil {
		return nil, err
	}
	for i, it := range r.Batch.Items() {
		if !finite(fault[i]) {
			fault[i], hidden = math.Inf(1), hidden+1
			continue
		}
		for _, x := range it.Pixels {
			fault[i] = max(fault[i], math.Abs(float64(x)))
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fault[b], fault[a]) })
	if hidden == n {
		return nil, nil
	}
	if finite, err := s.finiteWithout(r, order[:n-1]); err != nil || !finite {
		return nil, err
	}
	least, most := max(1, hidden), max(1, hidden) // the answer is from least to most
	for {
		finite, err := s.finiteWithout(r, order[:most])
		if err != nil {
			return nil, err
		}
		if finite {
			break
		}
		least, most = most+1, min(2*most, n-1)
	}
	for least < most {
		middle := (least + most) / 2
		finite, err := s.finiteWithout(r, order[:middle])
		if err != nil {
			return nil, err
		}
		if finite {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return slices.Sorted(slices.Values(order[:most])), nil
}

// finiteWithout says whether a row without some samples has a finite loss and gradient.
func (s *step) finiteWithout(r *row, bad []int) (bool, error) {
	b, err := s.scratch.batch(s.network)
	if err != nil {
		return false, err
	}
	b.Without(r.Batch, slices.Sorted(slices.Values(bad)))
	if err := s.targets.set(b, r.Loss); err != nil {
		return false, err
	}
	one := device.Row{Batch: b, Loss: r.Loss}
	defer one.Free()
	gram, err := s.network.programs.Gradients(s.network.theta, []*device.Row{&one}, device.Products{Norms: true})
	if err != nil {
		return false, err
	}
	return finiteRow(&one, gram, 0, 1), nil
}

// without takes samples out of a row, and counts them for their tasks. The batch that a stream
// delivered stays as it is.
func (s *step) without(r *row, bad []int) error {
	if s.report.LeftOut == nil {
		s.report.LeftOut = map[int]int{}
	}
	for _, i := range bad {
		s.report.LeftOut[r.Batch.Task[i]]++
	}
	from := r.Batch
	if t := s.tasks.running.get(r.id); t != nil {
		if t.bad = bad; t.varied == nil {
			var err error
			if t.varied, err = s.network.programs.Lane(t.id).NewBatch(); err != nil {
				return err
			}
		}
		r.Batch = t.varied
	}
	r.free()
	r.Batch.Without(from, bad)
	for _, i := range slices.Backward(bad) {
		if r.indices != nil {
			r.indices = slices.Delete(slices.Clone(r.indices), i, i+1)
		}
	}
	return s.targets.set(r.Batch, r.Loss)
}

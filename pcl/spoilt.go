package pcl

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// finiteRow says whether a row has a finite loss and gradient. The diagonal of gram holds the squared norms of the
// gradients over the shared parameters. An update adds gradients up in float32, so a squared norm that is beyond the
// range of float32 counts as not finite.
func finiteRow(r *device.Row, gram []float64, i, rows int) bool {
	return finite(r.Value) && r.Private+gram[i*rows+i] <= math.MaxFloat32
}

// leaveOut takes samples out of rows whose loss or gradient is not finite, where they alone are the cause: a sample of huge values
// costs its own part of a step, and not that of the others in its batch. The gradients of such rows have to be computed again.
func (s *step) leaveOut(gram []float64) (again bool) {
	for i := range s.rows {
		r := &s.rows[i]
		if r.Batch == nil || r.Batch.N < 2 || finiteRow(&r.Row, gram, i, len(s.rows)) {
			continue
		}
		if bad := s.spoiling(r); bad != nil {
			s.without(r, bad)
			again = true
		}
	}
	return again
}

// spoiling returns the places of the samples without which a row has a finite loss and gradient; nil if it would not do without
// any of them, as where the network itself is broken. The likeliest are tried first: those whose own loss is not finite, then
// those with the largest loss or value. Twice as many each time, so that a batch of B samples takes about 2 log B gradients.
func (s *step) spoiling(r *row) (bad []int) {
	n, hidden := r.Batch.N, 0
	fault := s.programs.Losses(s.at(s.network.theta), r.Batch, r.Loss)
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
	if hidden == n || !s.finiteWithout(r, order[:n-1]) {
		return nil
	}
	least, most := max(1, hidden), max(1, hidden) // the answer is from least to most
	for !s.finiteWithout(r, order[:most]) {
		least, most = most+1, min(2*most, n-1)
	}
	for least < most {
		if middle := (least + most) / 2; s.finiteWithout(r, order[:middle]) {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return slices.Sorted(slices.Values(order[:most]))
}

// finiteWithout says whether a row without some samples has a finite loss and gradient.
func (s *step) finiteWithout(r *row, bad []int) bool {
	if s.sample == nil {
		s.sample = s.programs.Lane(0).NewBatch()
	}
	s.sample.Without(r.Batch, slices.Sorted(slices.Values(bad)))
	s.aim(s.sample, r.Loss)
	one := device.Row{Batch: s.sample, Loss: r.Loss}
	defer one.Free()
	gram := s.programs.Gradients(s.network.theta, []*device.Row{&one}, device.Products{Norms: true})
	return finiteRow(&one, gram, 0, 1)
}

// without takes samples out of a row, and counts them for their tasks. A stream's own batch stays as it was delivered.
func (s *step) without(r *row, bad []int) {
	if s.report.LeftOut == nil {
		s.report.LeftOut = map[int]int{}
	}
	for _, i := range bad {
		s.report.LeftOut[r.Batch.Task[i]]++
	}
	from := r.Batch
	if t := s.tasks.get(r.id); t != nil {
		if t.bad = bad; t.varied == nil {
			t.varied = s.programs.Lane(t.id).NewBatch()
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
	s.aim(r.Batch, r.Loss)
}

package pcl

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// reportKept reports which rows take part in the step and which are left out.
func (s *step) reportKept(gram []float64) {
	r := s.report
	for i, row := range s.rows {
		if !slices.Contains(s.kept, i) {
			r.Skipped = append(r.Skipped, row.id)
			continue
		}
		r.IDs, r.N = append(r.IDs, row.id), append(r.N, row.samples())
		r.Losses = append(r.Losses, row.Value)
	}
	if products(s.options, s.method).Gram && len(s.kept) > 0 {
		r.Gram = submatrix(gram, len(s.rows), s.kept)
	}
}

// submatrix keeps the given rows and columns of an n×n matrix.
func submatrix(m []float64, n int, kept []int) []float64 {
	if len(kept) == n {
		return m
	}
	out := make([]float64, 0, len(kept)*len(kept))
	for _, i := range kept {
		for _, j := range kept {
			out = append(out, m[i*n+j])
		}
	}
	return out
}

// weigh asks the method for the weight of each row that takes part, and hands it what it needs to
// decide.
func (s *step) weigh() error {
	r, needs := s.report, s.method.Needs
	in := &method.Step{IDs: r.IDs, Losses: r.Losses, Rand: s.rng.Rand}
	if needs.Gram {
		in.Gram = r.Gram
	}
	var err error
	if needs.Rows {
		if in.Rows, err = s.jacobian(); err != nil {
			return err
		}
	}
	if needs.Cross {
		if in.Cross, err = s.cross(); err != nil {
			return err
		}
	}
	r.Weights = make([]float64, len(s.kept))
	if r.Outcome, err = s.method.Method.Weights(in, r.Weights); err != nil {
		return fmt.Errorf("%s: %w", byMethod(s.method), err)
	}
	if !fp.Finite(r.Weights) {
		return fmt.Errorf("%s gave the streams %v the weights %g; want finite ones",
			byMethod(s.method), r.IDs, r.Weights)
	}
	if err := r.Outcome.CheckDirection(needs, s.network.programs.Shared); err != nil {
		return fmt.Errorf("%s: %w", byMethod(s.method), err)
	}
	return nil
}

// jacobian returns the part of each row's gradient that belongs to the shared parameters, in
// float64.
func (s *step) jacobian() ([][]float64, error) {
	out := make([][]float64, len(s.kept))
	for k, i := range s.kept {
		g, err := s.network.read(s.rows[i].Flat)
		if err != nil {
			return nil, err
		}
		out[k] = make([]float64, s.network.programs.Shared)
		for p := range out[k] {
			out[k][p] = float64(g[p])
		}
	}
	return out, nil
}

// cross returns the inner products of the gradients of the rows' first halves with those of their
// second halves.
func (s *step) cross() (out []float64, err error) {
	var parts [2][]blas32.Vector
	for h := range parts {
		for _, i := range s.kept {
			half := cmp.Or(s.rows[i].Halves[h], s.rows[i].Flat) // without samples, both are the whole
			g, err := s.network.read(half)
			if err != nil {
				return nil, err
			}
			parts[h] = append(parts[h], blas32.Vector{N: s.network.programs.Shared, Inc: 1, Data: g})
		}
	}
	for _, a := range parts[0] {
		for _, b := range parts[1] {
			out = append(out, blas32.DDot(a, b))
		}
	}
	return out, nil
}

// follow tells the method, if it asks for this, the losses of the same batches at the new
// parameters. An observer is told them in the report.
func (s *step) follow() error {
	f := s.method.Follower
	if f == nil && !s.options.Observe {
		return nil
	}
	after := make([]float64, len(s.kept))
	for k, i := range s.kept {
		r := &s.rows[i]
		if r.Batch == nil {
			var err error
			if after[k], _, err = s.penalty(); err != nil {
				return err
			}
			continue
		}
		now := device.At{Theta: s.network.theta} // with the batch's own statistics, as in its gradient's program
		losses, err := s.network.programs.Losses(now, r.Batch, r.Loss)
		if err != nil {
			return err
		}
		for _, x := range losses {
			after[k] += x / float64(r.Batch.N)
		}
	}
	if s.options.Observe {
		s.report.LossesAfter = after
	}
	if f != nil {
		return f.Follow(s.report.IDs, after)
	}
	return nil
}

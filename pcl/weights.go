package pcl

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
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
	if s.products().Gram && len(s.kept) > 0 {
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

// weigh asks the method for the weight of each row that takes part, and hands it what it needs to decide.
func (s *step) weigh() {
	r, info := s.report, s.options.Method.Info()
	in := &method.Step{IDs: r.IDs, Losses: r.Losses, Rand: s.rng.Rand}
	if info.NeedsGram {
		in.Gram = r.Gram
	}
	if info.NeedsRows {
		in.Rows = s.jacobian()
	}
	if info.NeedsCross {
		in.Cross = s.cross()
	}
	var err error
	r.Weights = make([]float64, len(s.kept))
	if r.Outcome, err = s.options.Method.Weights(in, r.Weights); err != nil {
		fail.Now("%s: %w", s.byMethod(), err)
	}
	if !fp.Finite(r.Weights) {
		fail.Now("%s gave the streams %v the weights %g; want finite ones", s.byMethod(), r.IDs, r.Weights)
	}
	fail.If(r.Outcome.CheckDirection(info, s.programs.Shared))
}

// jacobian returns the part of each row's gradient that belongs to the shared parameters, in float64.
func (s *step) jacobian() [][]float64 {
	out := make([][]float64, len(s.kept))
	for k, i := range s.kept {
		g := program.Read[float32](s.rows[i].Flat, s.total())
		out[k] = make([]float64, s.programs.Shared)
		for p := range out[k] {
			out[k][p] = float64(g[p])
		}
	}
	return out
}

// cross returns the inner products of the gradients of the rows' first halves with those of their second halves.
func (s *step) cross() (out []float64) {
	var parts [2][]blas32.Vector
	for h := range parts {
		for _, i := range s.kept {
			half := cmp.Or(s.rows[i].Halves[h], s.rows[i].Flat) // without samples, both are the whole
			g := program.Read[float32](half, s.total())
			parts[h] = append(parts[h], blas32.Vector{N: s.programs.Shared, Inc: 1, Data: g})
		}
	}
	for _, a := range parts[0] {
		for _, b := range parts[1] {
			out = append(out, blas32.DDot(a, b))
		}
	}
	return out
}

// follow tells the method, if it asks for this, the losses of the same batches at the new parameters. An observer is
// told them in the report.
func (s *step) follow() {
	f, follows := method.As[method.Follower](s.options.Method)
	if !follows && !s.options.Observe {
		return
	}
	after := make([]float64, len(s.kept))
	for k, i := range s.kept {
		r := &s.rows[i]
		if r.Batch == nil {
			after[k], _ = s.penalty()
			continue
		}
		now := device.At{Theta: s.network.theta} // with the batch's own statistics, as in its gradient's program
		for _, x := range s.programs.Losses(now, r.Batch, r.Loss) {
			after[k] += x / float64(r.Batch.N)
		}
	}
	if s.options.Observe {
		s.report.After = after
	}
	if follows {
		fail.If(f.Follow(s.report.IDs, after))
	}
}

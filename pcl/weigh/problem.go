package weigh

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Problem is what is known of the K gradients of one step. All slices belong to the caller.
type Problem struct {
	// Rows are the gradients, and Gram is their Gram matrix JJᵀ, row by row; give one of the two.
	Rows [][]float64
	Gram []float64
	// Losses has the losses of the K batches; nil if there are none.
	Losses []float64
	// After are the losses of the same batches after the step, for rules that learn from them
	// ([Scorer.Follows]), if they are known already; nil otherwise.
	After []float64
	// Sigma are elastic factors to use instead of those that emgd-gmc, emgd-gs or emgd-log would
	// compute.
	Sigma []float64
	// IDs are the rows' task ids; 0 is the memory, and ids below 0 are further rows of it, such as
	// one for each finished task, as gem and pocl have them. If they are missing, the rows are
	// tasks 1, 2, …
	IDs []int
	// NoDirection leaves Outcome.Direction out.
	NoDirection bool
}

// Weights writes the K weights of a problem to w. Outcome.Direction is Σ wᵢJᵢ, or what the method
// itself returned; nil if only the Gram matrix was given. The certificate has an entry for each row
// of the problem, also where the rule saw the sum of the memory's rows: each of these rows then has
// the sum's entries. The outcome is valid until the next call. After an error the rule is as it was
// before, and w undefined. Errors count rows and entries from 1.
func (r *Rule) Weights(p *Problem, w []float64) (out method.Outcome, err error) {
	defer func() { r.step = method.Step{} }() // its slices are the caller's
	if err := r.prepare(p, len(w)); err != nil {
		return method.Outcome{}, err
	}
	back, err := r.mark()
	if err != nil {
		return method.Outcome{}, err
	}
	if out, err = r.weigh(p, w); err != nil {
		return method.Outcome{}, errors.Join(err, back())
	}
	return out, nil
}

func (r *Rule) weigh(p *Problem, w []float64) (out method.Outcome, err error) {
	if e, ok := r.method.Method.(method.Elastic); p.Sigma != nil && !ok {
		err = errors.New(`"sigma" needs emgd-gmc, emgd-gs or emgd-log, at rescale=native`)
	} else if p.Sigma != nil {
		out, err = e.WeightsFor(&r.step, p.Sigma, w)
	} else if out, err = r.method.Method.Weights(&r.step, w); err != nil {
		err = fmt.Errorf("method %s: %w", r.method.Info.Name, err)
	}
	if err == nil && p.Rows != nil {
		if err = out.CheckDirection(r.method.Needs, len(p.Rows[0])); err != nil {
			err = fmt.Errorf("method %s: %w", r.method.Info.Name, err)
		}
	}
	if err != nil {
		return out, err
	}
	if out.Summed != nil && out.Certificate != nil {
		out.Certificate = spread(out.Certificate, out.Summed)
	}
	switch {
	case p.NoDirection:
		out.Direction = nil
	case out.Direction == nil && p.Rows != nil:
		r.combine(p.Rows, w)
		out.Direction = r.direction
	}
	if !fp.Finite(w) || !fp.Finite(out.Direction) {
		return out, errors.New("the weights or the direction leave the range of float64: rescale the gradients")
	}
	if p.After != nil && r.method.Follower != nil {
		return out, r.method.Follower.Follow(r.step.IDs, p.After)
	}
	return out, nil
}

// prepare checks the problem and converts it to the form that methods take.
func (r *Rule) prepare(p *Problem, k int) error {
	switch {
	case (p.Rows == nil) == (p.Gram == nil):
		return errors.New(`give either "jacobian" or "gram"`)
	case k == 0:
		return errors.New("there are no gradients")
	case r.method.Needs.Rows && p.Rows == nil:
		return fmt.Errorf("%s needs the \"jacobian\", its Gram matrix is not enough", r.method.Info.Name)
	case p.Losses == nil && r.method.Needs.Losses:
		return fmt.Errorf("%s needs \"losses\"", r.method.Info.Name)
	}
	for _, list := range []struct {
		given bool
		n     int
		what  string
	}{
		{p.IDs != nil, len(p.IDs), "ids"}, {p.After != nil, len(p.After), "losses_after"},
		{p.Losses != nil, len(p.Losses), "losses"},
		{p.Sigma != nil, len(p.Sigma), "elastic factors in sigma"},
	} {
		if list.given && list.n != k {
			return fmt.Errorf("%d %s for %d gradients", list.n, list.what, k)
		}
	}
	for i, x := range p.Losses {
		if x-x != 0 {
			return fmt.Errorf("entry %d of the losses is %g: leave streams without a finite loss out", i+1, x)
		}
	}
	checked, err := p.check(k)
	if err != nil {
		return err
	}
	gram := checked.Gram()
	r.step = method.Step{
		IDs: p.IDs, Losses: p.Losses, Gram: gram, Problem: checked, Rows: p.Rows, Cross: gram, Rand: r.rng.Rand,
	}
	if r.step.IDs == nil {
		r.step.IDs = counted(k)
	}
	for i, id := range p.IDs {
		if j := slices.Index(p.IDs, id); j < i {
			return fmt.Errorf("stream id %d is given twice, as rows %d and %d", id, j+1, i+1)
		}
	}
	return nil
}

// check takes the k gradients, or their Gram matrix, through emgd's door. Beyond what that asks
// for, all of them have to be possible together, and their lengths are in the range of float64.
func (p *Problem) check(k int) (checked *emgd.Problem, err error) {
	switch {
	case p.Gram != nil && len(p.Gram) != k*k:
		err = fmt.Errorf("the gram matrix has %d entries for %d gradients; want %d", len(p.Gram), k, k*k)
	case p.Gram != nil:
		checked, err = emgd.NewProblem(p.Gram)
	case len(p.Rows) != k:
		err = fmt.Errorf("%d weights for %d gradients", k, len(p.Rows))
	case len(p.Rows[0]) == 0:
		err = errors.New("the jacobian is empty")
	default:
		checked, err = emgd.FromGradients(p.Rows)
	}
	switch {
	case err != nil:
		return nil, err
	case p.Gram != nil && !checked.PositiveSemidefinite():
		return nil,
			errors.New("the gram matrix has a negative eigenvalue: any two of its gradients could be, but not all of them " +
				"together")
	}
	for i := range k {
		if math.IsInf(checked.Length(i), 1) {
			return nil, fmt.Errorf("the length of gradient %d leaves the range of float64: rescale the gradients", i+1)
		}
	}
	return checked, nil
}

// combine writes Σ wᵢJᵢ to r.direction.
func (r *Rule) combine(rows [][]float64, w []float64) {
	r.direction = fp.Grow(r.direction, len(rows[0]))
	clear(r.direction)
	for i, row := range rows {
		floats.AddScaled(r.direction, w[i], row)
	}
}

// spread returns a certificate about the joined rows as one about the rows of the step: each row of
// the memory has the entries of the sum that it is a part of.
func spread(c *emgd.Certificate, j *method.Summed) *emgd.Certificate {
	d := *c
	d.Lambda, d.Sigma, d.Slacks, d.Active, d.Dropped = nil, nil, nil, nil, nil
	for i, to := range j.RowOf {
		d.Lambda, d.Sigma, d.Slacks = append(d.Lambda, c.Lambda[to]), append(d.Sigma, c.Sigma[to]),
			append(d.Slacks, c.Slacks[to])
		if slices.Contains(c.Active, to) {
			d.Active = append(d.Active, i)
		}
		if slices.Contains(c.Dropped, to) {
			d.Dropped = append(d.Dropped, i)
		}
	}
	return &d
}

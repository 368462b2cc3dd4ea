package emgd

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// stationary is the ratio ‖d‖/Σλ_i‖J_i‖ up to which d cannot be told from 0: rounding in M alone
// moves ‖d‖² by about 1e-16·K·(Σλ_i‖J_i‖)², and below this ratio the conditions on J_i·d cannot be
// met to nine digits.
func stationary(k int) float64 { return 4e-7 * math.Sqrt(float64(k)) }

const (
	// exact is the largest violation of an optimal status.
	exact = 1e-9
	// rough is the violation beyond which the iteration limit is to blame, and not rounding.
	rough = 1e-6
	// lowest is the ‖d‖² below which slacks may lose digits.
	lowest = 0x1p-960
)

var errRange = errors.New("emgd: the weights or their certificate leave the range of float64: the factors σ, or the " +
	"gradients, are too large, too small or too far apart in size; rescale them")

// finish takes the solution of the scaled problem back to λ and writes the certificate. The status
// is the one of a flawless solution.
func (s *Solver) finish(status Status) (*Certificate, error) {
	w, c, floor := &s.set, &s.cert, s.Floor
	c.Status, c.Iterations = status, w.iterations
	if status != Optimal {
		floor = 0 // the weights are all that there is in ν
	} else if err := s.complete(); err != nil {
		return nil, err
	}
	for a, i := range s.rows {
		c.Lambda[i] = floor + math.Ldexp(w.nu[a], -s.shift[a])
		if w.nu[a] > 0 && c.Lambda[i] > 0 && status != FloorInfeasible {
			c.Active = append(c.Active, i)
		}
	}
	if err := s.representable(); err != nil {
		return nil, err
	}
	if status == Stationary || status == Optimal && w.vanishes() {
		c.Status = Stationary
		c.Cancellation = s.cancellation(w.size())
		return c, nil
	}
	worse, err := s.certify()
	if status == Optimal {
		c.Status = s.judge(worse)
	}
	return c, err
}

// complete counts in what negligible factors add to Σλσ after all, where d = 0 has let the weights
// of their rows grow as large.
func (s *Solver) complete() error {
	w, more := &s.set, 0.0
	for a, i := range s.rows {
		if w.s[a] == 0 && w.nu[a] > 0 {
			more += math.Ldexp(s.cert.Sigma[i], -s.shift[a]) * w.nu[a]
		}
	}
	switch {
	case more <= 1e-3*exact:
		return nil
	case w.shifted:
		return errors.New("emgd: the gradients are too far apart in size for a floor on the weights; rescale them")
	}
	part := 1 / (1 + more)
	for a := range w.nu {
		w.nu[a] *= part
		w.g[a] *= part
	}
	w.norm2 *= part * part
	w.kappa *= part * part
	return nil
}

// representable refuses weights that float64 cannot hold: too large ones, and those that would be
// rounded to 0 or nearly so although d needs them.
func (s *Solver) representable() error {
	w, c := &s.set, &s.cert
	lost, worst := 0.0, -1
	for a, i := range s.rows {
		l := c.Lambda[i]
		if l-l != 0 {
			return fmt.Errorf("emgd: the weight λ_%d (counted from 0) leaves the range of float64; rescale the factors σ or "+
				"the gradients", i)
		}
		if l < fp.Smallest && w.nu[a] > 0 {
			if part := math.Abs(math.Ldexp(l, s.shift[a])-w.nu[a]) * w.norm[a]; part > 0 {
				lost, worst = lost+part, i
			}
		}
	}
	limit := 1e-3 * exact * math.Sqrt(w.norm2)
	if w.vanishes() {
		limit = exact * w.size()
	}
	if lost > limit {
		return fmt.Errorf("emgd: the weight λ_%d (counted from 0) is too small for float64, and d needs it: the gradients "+
			"or the factors σ are too far apart in size; rescale them", worst)
	}
	return nil
}

// cancellation is ‖d‖ relative to size, and 0 for a size of 0.
func (s *Solver) cancellation(size float64) float64 {
	return min(1, math.Sqrt(max(0, s.set.norm2))/max(size, math.SmallestNonzeroFloat64))
}

// certify measures the solution in the unit of the gradients or, where ‖d‖² or a slack leaves the
// range of float64 there, in one above ‖d‖. It reports whether a dropped row has a negative slack.
func (s *Solver) certify() (worse bool, err error) {
	w, c := &s.set, &s.cert
	if worse = s.measure(); w.norm2 == 0 || s.inRange(lowest) {
		return worse, nil
	}
	for _, above := range []int{2, 500} {
		c.Exponent = fp.HalfExponent(w.norm2) - w.unit + above
		if worse = s.measure(); s.inRange(fp.Smallest) {
			return worse, nil
		}
	}
	return worse, errRange
}

func (s *Solver) inRange(least float64) bool {
	c := &s.cert
	return c.Norm2 >= least && c.Norm2-c.Norm2 == 0 && c.Level-c.Level == 0 &&
		!slices.ContainsFunc(c.Slacks, func(x float64) bool { return x-x != 0 })
}

// measure writes ‖d‖², Level and the slacks in the certificate's unit, and judges each in a unit of
// its own, where it is in the range of float64 whatever the gradients are.
func (s *Solver) measure() (worse bool) {
	w, c, p := &s.set, &s.cert, s.problem
	unit := -2 * (w.unit + c.Exponent)
	c.Norm2, c.Level = math.Ldexp(w.norm2, unit), math.Ldexp(w.kappa, unit)
	c.Violation = 0
	gap, total, size := 0.0, 0.0, 0.0
	for a, i := range s.rows {
		slack, scale := s.slack(i, w.g[a], w.norm[a], s.shift[a])
		c.Slacks[i] = math.Ldexp(slack, s.shift[a]+unit)
		size += s.weight(a) * w.norm[a]
		if scale == 0 {
			continue
		}
		breach := -slack
		if free := c.Lambda[i] - s.Floor; free > 0 && slices.Contains(c.Active, i) {
			breach = math.Abs(breach)
			free = math.Ldexp(free, s.shift[a])
			gap += free * breach
			total += free * scale
		}
		c.Violation = max(c.Violation, breach/scale)
	}
	for _, i := range c.Dropped {
		own := p.exp[i] + w.unit
		shift := own
		if sigma := c.Sigma[i]; sigma > 0 && (p.square(i) == 0 || math.Ilogb(sigma) > own) {
			shift = math.Ilogb(sigma) // the row is much shorter than σ_i demands
		}
		along := 0.0
		for a, j := range s.rows {
			along += p.c[i*p.k+j] * s.weight(a)
		}
		slack, scale := s.slack(i, math.Ldexp(along, own-shift), math.Ldexp(math.Sqrt(p.square(i)), own-shift), shift)
		c.Slacks[i] = math.Ldexp(slack, shift+unit)
		worse = worse || slack < -exact*scale
	}
	if total > 0 {
		c.Gap = gap / total
	}
	c.Cancellation = s.cancellation(size)
	return worse
}

// slack is J_i·d − σ_i·κ, with scale_i of the certificate, of a row with the given J_i·d and
// length.
func (s *Solver) slack(i int, along, length float64, shift int) (slack, scale float64) {
	w, sigma := &s.set, math.Ldexp(s.cert.Sigma[i], -shift)
	return along - float64(sigma*w.kappa), length*math.Sqrt(w.norm2) + sigma*max(w.norm2, math.Abs(w.kappa))
}

// weight is λ in the scale of ν.
func (s *Solver) weight(a int) float64 {
	if s.set.shifted {
		return s.set.nu[a] + s.set.least[a]
	}
	return s.set.nu[a]
}

// judge is the status that the slacks allow. worse says that a dropped row has a negative one.
func (s *Solver) judge(worse bool) Status {
	c := &s.cert
	switch {
	case !s.set.converged && c.Violation > rough:
		return IterationLimit
	case c.Violation > exact:
		return IllConditioned
	case worse:
		return RowsDropped
	case s.Floor > 0 && len(c.Active) < len(s.rows):
		return FloorBinding
	}
	return Optimal
}

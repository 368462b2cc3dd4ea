package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

// judge says what comes of claims.
func (f *Findings) judge(all []*Claim) (out []*Verdict, err error) {
	for _, c := range all {
		v := &Verdict{Claim: c, Parts: f.parts(c)}
		if err := v.test(); err != nil {
			return nil, fmt.Errorf("claim %s: %w", c.ID, err)
		}
		v.settle()
		out = append(out, v)
	}
	return out, nil
}

// fill looks up what a part compares, and compares it. rivals has nil for a name that the column lacks.
func (p *Part) fill(c *Claim, own *Entry, rivals []*Entry, names []string) {
	var missing []string
	if own == nil || own.Done == 0 {
		missing = append(missing, p.Method)
	}
	for i, r := range rivals {
		if r == nil || r.Done == 0 {
			missing = append(missing, names[i])
		}
	}
	if len(missing) > 0 {
		p.Outcome, p.Why = NotTestable, "There are no runs of "+strings.Join(missing, ", ")+" here."
		return
	}
	for _, r := range rivals {
		t, err := compare(own, r, c.Metric)
		if err != nil {
			p.Outcome, p.Why = NotTestable, fmt.Sprintf("The runs of %s and %s cannot be compared: %v.", p.Method, r.Name, err)
			return
		}
		p.rivals = append(p.rivals, t)
	}
}

// test tests all parts of a claim that can be tested.
func (v *Verdict) test() error {
	families := map[family][]*Part{}
	for _, p := range v.Parts {
		if p.Outcome == "" {
			if err := p.sum(v.Claim); err != nil {
				return err
			}
			families[p.family()] = append(families[p.family()], p)
		}
	}
	for _, open := range families {
		if err := v.testFamily(open); err != nil {
			return err
		}
	}
	return nil
}

// family is what tests are corrected for together. Other data, or other values of the same methods, are another
// experiment about the claim, so that results on one data set do not change what was found on another.
type family struct {
	dataSet string
	tuned   bool
}

func (p *Part) family() family { return family{p.Column.Dataset, p.Column.Grid.Tuned} }

// testFamily tests parts, with a correction for their number.
func (v *Verdict) testFamily(open []*Part) error {
	open = v.enough(open)
	var tests []*Comparison
	for _, p := range open {
		tests = append(tests, p.Tested)
	}
	if err := holm(tests); err != nil {
		return err
	}
	for _, p := range open {
		p.Outcome, p.Why = v.verdict(p.Tested)
	}
	return nil
}

// enough leaves out the parts with too few situations. The others share the level.
func (v *Verdict) enough(open []*Part) (out []*Part) {
	var some []*Part
	for _, p := range open {
		switch {
		case p.Tested.Situations < stats.MinPairs:
			p.Outcome, p.Why = NotTestable, tooFew(p.Tested.Situations, 1)
		case v.Relation == alike && !p.Tested.Resampled:
			p.Outcome, p.Why = NotTestable, "One label set and one seed have no interval."
		default:
			some = append(some, p)
		}
	}
	for _, p := range some {
		if p.Tested.Situations < stats.Needed(Alpha, len(some)) {
			p.Outcome, p.Why = NotTestable, tooFew(p.Tested.Situations, len(some))
			continue
		}
		out = append(out, p)
	}
	return out
}

// sum makes one test of those with all rivals. A method is better than all if it is better than each, so that the
// largest p-value counts, without a correction (an intersection-union test). If it is not better than the closest rival,
// the question is the opposite one, whether any rival is better, and the test is one of the largest lead of a rival.
func (p *Part) sum(c *Claim) error {
	sign := 1.0
	if c.Relation == lower {
		sign = -1
	}
	closest := p.rivals[0]
	for _, t := range p.rivals {
		if sign*t.Difference < sign*closest.Difference {
			closest = t
		}
	}
	p.Than = closest.B.Name
	leads := sign*closest.Difference > 0
	sum := *closest
	for _, t := range p.rivals {
		sum.unclear = sum.unclear || leads && !t.clear()
		sum.Situations = min(sum.Situations, t.Situations) // too few with one rival are too few
		if leads {
			sum.P = math.Max(sum.P, t.P)
		}
	}
	if !leads && len(p.rivals) > 1 {
		own, rivals := paired(p.rivals, c.Metric)
		if sign < 0 {
			own, rivals = rivals, own
		}
		sum.Situations = min(sum.Situations, len(own[0])) // each pair may lack others
		if sum.Situations >= stats.MinPairs {
			var err error
			if sum.P, err = stats.SignFlipMax(rivals, own); err != nil {
				return err
			}
		}
	}
	sum.Adjusted = sum.P
	p.Tested = &sum
	return nil
}

// paired returns the means of the method and of its rivals, for each rival in each of the situations that all have.
func paired(rivals []*Comparison, m Metric) (a, b [][]float64) {
	pairs := make([]*shared, len(rivals))
	for r, t := range rivals {
		pairs[r] = share(m, t.A, t.B)
	}
	within := slices.DeleteFunc(slices.Clone(pairs[0].situations), func(s situation) bool {
		return slices.ContainsFunc(pairs, func(p *shared) bool { return !slices.Contains(p.situations, s) })
	})
	a, b = make([][]float64, len(rivals)), make([][]float64, len(rivals))
	for r, t := range rivals {
		for _, s := range within {
			a[r] = append(a[r], t.A.mean(m, s, pairs[r].seeds))
			b[r] = append(b[r], t.B.mean(m, s, pairs[r].seeds))
		}
	}
	return a, b
}

// verdict is the outcome of a test.
func (v *Verdict) verdict(t *Comparison) (Outcome, string) {
	if v.Relation == alike {
		return within(t, v.Margin)
	}
	asClaimed := t.Difference > 0
	if v.Relation == lower {
		asClaimed = t.Difference < 0
	}
	significant := t.Adjusted <= Alpha
	switch {
	case significant && !t.clear():
		return NotShown, "The test over situations is significant, but the interval, which allows for what label sets have in common, contains 0."
	case asClaimed && significant:
		return Holds, "The difference is as claimed, and significant."
	case significant:
		return DoesNotHold, "The difference is significant, and the other way round."
	case asClaimed:
		return NotShown, "The difference has the claimed sign, but is not significant."
	}
	return NotShown, "The difference does not have the claimed sign, and is not significant after the correction."
}

// clear reports whether the interval, if there is one, does not contain 0; of a comparison with several rivals, that of each.
func (c *Comparison) clear() bool {
	return !c.unclear && (!c.Resampled || c.Interval.Low > 0 || c.Interval.High < 0)
}

// alike is the outcome of a claim that two methods differ by less than a margin.
func within(t *Comparison, margin float64) (Outcome, string) {
	i := t.Interval
	switch {
	case -margin < i.Low && i.High < margin:
		return Holds, fmt.Sprintf("The whole interval of the difference is within ± %g points.", margin)
	case i.Low >= margin || i.High <= -margin:
		return DoesNotHold, fmt.Sprintf("The whole interval of the difference is outside ± %g points.", margin)
	}
	return NotShown, fmt.Sprintf("The interval of the difference reaches beyond ± %g points.", margin)
}

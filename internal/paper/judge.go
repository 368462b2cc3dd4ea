package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

func (f *Findings) judge(all []*claim) (out []*Verdict) {
	for _, c := range all {
		v := &Verdict{ID: c.ID, Text: c.Text, Parts: f.parts(c), claim: c}
		v.test()
		v.settle()
		out = append(out, v)
	}
	return out
}

// fill looks up what a part compares, and compares it. rivals has nil for a name that the column
// lacks.
func (p *Part) fill(c *claim, own *rows.Entry, rivals []*rows.Entry, names []string) {
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
		t := compare(own, r, c.metric)
		if t == nil {
			p.Outcome, p.Why = NotTestable, fmt.Sprintf("%s and %s have no situation and seed in common.", p.Method, r.Name)
			return
		}
		p.rivals = append(p.rivals, t)
	}
}

// test tests all parts of a claim that can be tested.
func (v *Verdict) test() {
	families := map[family][]*Part{}
	for _, p := range v.Parts {
		if p.Outcome == "" {
			p.sum(v.claim)
			families[p.family()] = append(families[p.family()], p)
		}
	}
	for _, open := range families {
		v.testFamily(open)
	}
}

// family is what tests are corrected for together. Other data, or other values of the same methods,
// are another experiment about the claim, so that results on one data set do not change what was
// found on another.
type family struct {
	dataSet string
	tuned   bool
}

func (p *Part) family() family { return family{p.Column.Dataset, p.Column.Table.Tuned} }

// testFamily tests parts, with a correction for their number.
func (v *Verdict) testFamily(open []*Part) {
	open = v.enough(open)
	var p []float64
	for _, part := range open {
		p = append(p, part.Tested.P)
	}
	for i, adjusted := range stats.Holm(p) {
		open[i].Tested.Adjusted = adjusted
		open[i].Outcome, open[i].Why = v.verdict(open[i].Tested)
	}
}

// enough leaves out the parts with too few situations. The others share the level.
func (v *Verdict) enough(open []*Part) (out []*Part) {
	var some []*Part
	for _, p := range open {
		switch {
		case p.Tested.Pairs < stats.MinPairs(stats.Level, 1):
			p.Outcome, p.Why = NotTestable, tooFew(p.Tested.Pairs, 1)
		case v.claim.Relation == alike && math.IsNaN(p.Tested.Low):
			p.Outcome, p.Why = NotTestable, "One label set has no interval."
		default:
			some = append(some, p)
		}
	}
	for _, p := range some {
		if p.Tested.Pairs < stats.MinPairs(stats.Level, len(some)) {
			p.Outcome, p.Why = NotTestable, tooFew(p.Tested.Pairs, len(some))
			continue
		}
		out = append(out, p)
	}
	return out
}

// sum makes one test of those with all rivals. A method is better than all if it is better than
// each, so that the largest p-value counts, without a correction (an intersection-union test). If
// it is not better than the closest rival, the question is the opposite one, whether any rival is
// better, and the test is one of the largest lead of a rival.
func (p *Part) sum(c *claim) {
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
		sum.unclear = sum.unclear || leads && !t.Clear()
		sum.Pairs = min(sum.Pairs, t.Pairs) // too few with one rival are too few
		if leads {
			sum.P = math.Max(sum.P, t.P)
		}
	}
	if !leads && len(p.rivals) > 1 {
		own, rivals := p.paired(c.metric)
		if sign < 0 {
			own, rivals = rivals, own
		}
		sum.Pairs = min(sum.Pairs, len(own[0])) // each pair may lack others
		if sum.Pairs >= stats.MinPairs(stats.Level, 1) {
			sum.P = stats.SignFlipMax(rivals, own)
		}
	}
	sum.Adjusted = sum.P
	p.Tested = &sum
}

// paired returns the means of the method and of its rivals, for each rival in each of the
// situations that all have.
func (p *Part) paired(m *results.Metric) (own, rivals [][]float64) {
	entries := []*rows.Entry{p.rivals[0].A}
	for _, t := range p.rivals {
		entries = append(entries, t.B)
	}
	own, rivals = make([][]float64, len(p.rivals)), make([][]float64, len(p.rivals))
	for _, s := range rows.Distinct(m, entries...) {
		for r := range p.rivals {
			own[r], rivals[r] = append(own[r], s.Means[0]), append(rivals[r], s.Means[r+1])
		}
	}
	return own, rivals
}

// verdict is the outcome of a test.
func (v *Verdict) verdict(t *comparison) (Outcome, string) {
	if v.claim.Relation == alike {
		return within(t, v.claim.Margin)
	}
	asClaimed := t.Difference > 0
	if v.claim.Relation == lower {
		asClaimed = t.Difference < 0
	}
	significant := t.Adjusted <= stats.Level
	switch {
	case significant && (t.unclear || !t.Clear()):
		return NotShown,
			"The test over situations is significant, but the interval, which allows for what label sets have in common, " +
				"contains 0."
	case asClaimed && significant:
		return Holds, "The difference is as claimed, and significant."
	case significant:
		return DoesNotHold, "The difference is significant, and the other way round."
	case asClaimed:
		return NotShown, "The difference has the claimed sign, but is not significant."
	}
	return NotShown, "The difference does not have the claimed sign, and is not significant after the correction."
}

// within is the outcome of a claim that two methods differ by less than a margin.
func within(t *comparison, margin float64) (Outcome, string) {
	switch {
	case -margin < t.Low && t.High < margin:
		return Holds, fmt.Sprintf("The whole interval of the difference is within ± %g points.", margin)
	case t.Low >= margin || t.High <= -margin:
		return DoesNotHold, fmt.Sprintf("The whole interval of the difference is outside ± %g points.", margin)
	}
	return NotShown, fmt.Sprintf("The interval of the difference reaches beyond ± %g points.", margin)
}

// tooFew says that no test of so many situations could tell anything.
func tooFew(situations, tests int) string {
	needed := stats.MinPairs(stats.Level, tests)
	among := ""
	if tests > 1 {
		among = fmt.Sprintf(" for %d comparisons", tests)
	}
	return fmt.Sprintf("With %s no exact test can be significant at the 5 %% level; at least %d are needed%s.",
		plural.Of(situations, "situation"), needed, among)
}

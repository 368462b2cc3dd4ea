package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/paper"
)

var outcomeClass = map[paper.Outcome]string{paper.Holds: "good", paper.DoesNotHold: "bad"}

// claimBlocks are the verdicts on the paper's claims and on what the controls are about. Each is
// left out if none of it was tested.
func claimBlocks(f *paper.Findings) (out []block) {
	for _, part := range []struct {
		id, title, note string
		all             []*paper.Verdict
	}{
		{"claims", "The paper’s claims",
			"A claim holds if every comparison that can be tested shows it: the difference has the claimed sign and is " +
				"significant at 5 % by the exact sign-flip test over situations (label sets and timelines), with Holm’s " +
				"correction for all comparisons of the claim on a data set (those of tuned values by themselves). It does not " +
				"hold if a difference is significantly the other way round; else it is not shown. That two methods are alike " +
				"holds if the whole 95 % interval of the difference is within the margin. Differences are in points of A unless " +
				"the claim is about forgetting.", f.Claims},
		{"controls", "Controls",
			"What the paper lacks: statements about what could explain the differences, judged in the same way.", f.Controls},
	} {
		if !tested(part.all) {
			continue
		}
		t := &table{Head: []string{"claim", "verdict"}}
		for _, v := range part.all {
			t.add(row{ID: v.ID}, datum{Text: v.Text, Class: "text", Parts: []block{verdictBlock(v)}},
				datum{Text: string(v.Outcome), Class: "verdict " + outcomeClass[v.Outcome]})
		}
		out = append(out, block{ID: part.id, Title: part.title,
			Lead: "Verdicts: " + tally(values(part.all, func(v *paper.Verdict) string {
				return string(v.Outcome)
			})) + ".", Table: t, Notes: []string{part.note}})
	}
	return out
}

func tested(all []*paper.Verdict) bool {
	return slices.ContainsFunc(all, func(v *paper.Verdict) bool { return v.Outcome != paper.NotTestable })
}

// verdictBlock has the comparisons behind a verdict.
func verdictBlock(v *paper.Verdict) block {
	t := &table{Head: []string{"compared", "with", "where", "outcome", "difference", "p", "situations", "paper"}}
	for _, p := range v.Parts {
		c := p.Tested
		if c == nil {
			continue
		}
		with, difference, chance := datum{Text: p.Than, Link: entryID(c.B)}, numberCell(c.Difference, paper.Signed),
			datum{Text: "–"}
		if p.Rivals > 1 {
			with.Small = fmt.Sprintf("the closest of %d", p.Rivals)
		}
		if !math.IsNaN(c.Low) {
			difference.Small = interval(c.Low, c.High)
		}
		if p.Outcome != paper.NotTestable {
			chance = numberCell(c.Adjusted, probability)
		}
		t.add(row{}, datum{Text: p.Method, Link: entryID(c.A)}, with, datum{Text: p.Place, Small: p.Why, Class: "text"},
			datum{Text: string(p.Outcome), Class: outcomeClass[p.Outcome]}, difference, chance, datum{Text: fmt.Sprint(c.Pairs)},
			knownCell(p.Paper, paper.Signed))
	}
	b := block{Title: v.Summary, Folded: true, Table: t}
	for _, text := range v.Untested {
		b.Notes = append(b.Notes, "Not tested: "+text)
	}
	return b
}

// missing says what of the paper has no results, if grids of it are there.
func missing(f *paper.Findings) block {
	b := block{ID: "missing", Title: "What of the paper’s tables has no results"}
	if tested(f.Claims) {
		for _, x := range f.Missing() {
			b.Facts = append(b.Facts, fact(x))
		}
	}
	return b
}

package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Outcome says whether a claim, or a part of it, holds.
type Outcome string

const (
	Holds       Outcome = "holds"
	DoesNotHold Outcome = "does not hold" // the opposite is shown
	NotShown    Outcome = "not shown"     // neither the claim nor its opposite is
	NotTestable Outcome = "not testable here"
)

// Verdict is the judgement of a claim.
type Verdict struct {
	ID, Text string
	Outcome  Outcome
	Summary  string // a sentence
	Parts    []*Part
	Untested []string // where the claim could not be tested and why, each reason once

	claim *claim
}

// Part is a claim about one method in one column.
type Part struct {
	Place string // of the results; of the paper, such as "Table 1, PS-EMNIST", if there are none
	// Column is where it was tested; nil if there are no results.
	Column *rows.Column
	Method string
	Than   string // the rival; if there are several, the one that came closest
	Rivals int    // how many there are

	Outcome Outcome
	Why     string // in words
	// Tested has the numbers; nil if there are none.
	Tested *comparison
	// Paper is the paper's difference in points; nil if it has none.
	Paper *float64

	rivals []*comparison
}

// settle makes the outcome of a claim from those of its parts. A claim holds if all parts do that
// could be tested, and does not hold if the opposite of one is shown.
func (v *Verdict) settle() {
	v.Untested = v.untested()
	n := map[Outcome]int{}
	for _, p := range v.Parts {
		n[p.Outcome]++
	}
	tested := n[Holds] + n[NotShown] + n[DoesNotHold]
	switch {
	case tested == 0:
		v.Outcome, v.Summary = NotTestable, "None of its comparisons can be tested with the results at hand."
		return
	case n[DoesNotHold] > 0:
		v.Outcome = DoesNotHold
	case n[NotShown] > 0:
		v.Outcome = NotShown
	default:
		v.Outcome = Holds
	}
	v.Summary = fmt.Sprintf("Holds in %d of %s tested (%s)", n[Holds], plural.Of(tested, "comparison"), v.differences())
	if n[DoesNotHold] > 0 {
		v.Summary += fmt.Sprintf("; in %d the opposite is shown", n[DoesNotHold])
	}
	if n[NotTestable] > 0 {
		v.Summary += fmt.Sprintf("; %d more cannot be tested", n[NotTestable])
	}
	v.Summary += "."
}

// differences is the range of those that were tested.
func (v *Verdict) differences() string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range v.Parts {
		if p.Outcome != NotTestable {
			low, high = min(low, p.Tested.Difference), max(high, p.Tested.Difference)
		}
	}
	if low == high {
		return "difference " + Signed(low)
	}
	return fmt.Sprintf("differences %s to %s", Signed(low), Signed(high))
}

func (v *Verdict) untested() (out []string) {
	places := map[string][]string{}
	var reasons []string
	for _, p := range v.Parts {
		if p.Outcome == NotTestable {
			reasons = once(reasons, p.Why)
			places[p.Why] = once(places[p.Why], p.Place)
		}
	}
	for _, why := range reasons {
		out = append(out, strings.Join(places[why], "; ")+": "+lowerFirst(why))
	}
	return out
}

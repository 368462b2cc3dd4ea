package results_test

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// runsOf are runs of one situation with seeds 1, 2, … and the given A.
func runsOf(a ...float64) (runs []*results.Run) {
	for i, x := range a {
		runs = append(runs, &results.Run{Dataset: "glyphs", Increment: "class", Seed: uint64(i + 1), A: x, F: -x})
	}
	return runs
}

func TestLeadPairsRunsBySeed(t *testing.T) {
	a, b := runsOf(50, 60, 70), runsOf(49, 62, 65)
	b[0], b[2] = b[2], b[0] // the order does not matter
	lead, err := results.LeadOf(a, b, results.Accuracy)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case math.Abs(lead.Mean-4.0/3) > 1e-12:
		t.Errorf("math.Abs(lead.Mean-4.0/3) is %g; want at most 1e-12", math.Abs(lead.Mean-4.0/3))
	case lead.Higher != 2:
		t.Errorf("lead.Higher is %d; want 2", lead.Higher)
	case lead.N != 3:
		t.Errorf("lead.N is %d; want 3", lead.N)
	case lead.Min != -2:
		t.Errorf("lead.Min is %g; want -2", lead.Min)
	case lead.Max != 5:
		t.Errorf("lead.Max is %g; want 5", lead.Max)
	}
	if got, want := lead.String(), "+1.3, higher in 2 of 3 runs"; got != want {
		t.Errorf("it reads %q, not %q", got, want)
	}
	switch back, err := results.LeadOf(b, a, results.Forgetting); {
	case err != nil:
		t.Errorf("F = −A of b leads a's as A of a leads b's: %v", err)
	case back.Moment.Mean != lead.Mean:
		t.Errorf("F = −A of b leads a's as A of a leads b's: back.Moment.Mean is %g; want %g", back.Moment.Mean, lead.Mean)
	case back.Higher != 2:
		t.Errorf("F = −A of b leads a's as A of a leads b's: back.Higher is %d; want 2", back.Higher)
	}
}

func TestLeadRefusesWhatHasNoPartner(t *testing.T) {
	other := runsOf(1, 2)
	other[1].Timeline = 1
	twice := runsOf(1, 2)
	twice[1].Seed = 1
	for name, c := range map[string]struct {
		a, b []*results.Run
	}{
		"none":             {nil, nil},
		"one too few":      {runsOf(1, 2), runsOf(1)},
		"another timeline": {runsOf(1, 2), other},
		"twice there":      {runsOf(1, 2), twice},
		"twice here":       {twice, runsOf(1, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := results.LeadOf(c.a, c.b, results.Accuracy); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestMomentReadsAsMeanAndDeviation(t *testing.T) {
	if got := results.MomentOf(1, 2, 3).String(); got != "2.0 ± 0.8" {
		t.Errorf("got %q", got)
	}
	if got := results.MomentOf().String(); got != "–" {
		t.Errorf("of nothing: got %q", got)
	}
}

package viz

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// apartRows has the gradients (1, 0) and (0, 2) of the memory, whose sum is (1, 2), and (2, −1) and (0, −4) of tasks.
func apartRows() results.Record {
	rows := [][]float64{{1, 0}, {0, 2}, {2, -1}, {0, -4}}
	r := results.Record{IDs: []int{0, -1, 3, 4}, Weights: []float64{.25, .25, .5, 0}, Losses: []float64{1, 1, 1, 1}}
	for _, a := range rows {
		for _, b := range rows {
			r.Gram = append(r.Gram, a[0]*b[0]+a[1]*b[1])
		}
	}
	return r
}

func TestMemoryOf(t *testing.T) {
	r := apartRows()
	m, ok := memoryOf(&r) // d = (1.25, 0)
	want := memoryRow{norm: math.Sqrt(5), share: .5, along: 1.25, cosine: 1 / math.Sqrt(5), d2: 1.5625}
	if !ok || !scalar.EqualWithinAbs(m.norm, want.norm, 1e-12) || m.share != want.share || m.along != want.along ||
		!scalar.EqualWithinAbs(m.cosine, want.cosine, 1e-12) || m.d2 != want.d2 {
		t.Errorf("%+v, %t; want %+v", m, ok, want)
	}
	for _, ids := range [][]int{{1, 2}, {0, -1}} {
		r := results.Record{IDs: ids, Gram: []float64{1, 0, 0, 1}, Weights: []float64{.5, .5}}
		if _, ok := memoryOf(&r); ok {
			t.Errorf("rows %v: a memory beside a task", ids)
		}
	}
}

func TestPairsOf(t *testing.T) {
	// The joined memory (1, 2) is at right angles to (2, −1) and has −8/(4√5) with (0, −4); the tasks have 4/(4√5).
	got := PairsOf([]results.Record{apartRows(), {IDs: []int{7}, Gram: []float64{1}}})
	for i, want := range []PairStats{{Pairs: 2, Cosine: -1 / math.Sqrt(5), Conflict: .5}, {Pairs: 1, Cosine: 1 / math.Sqrt(5)}} {
		if s := []PairStats{got.MemoryAndTask, got.TwoTasks}[i]; s.Pairs != want.Pairs || s.Conflict != want.Conflict || !scalar.EqualWithinAbs(s.Cosine, want.Cosine, 1e-12) {
			t.Errorf("%d: %+v, want %+v", i, s, want)
		}
	}
	perTask := apartRows()
	perTask.IDs = []int{-1, -2, 3, 4}
	if ids, _ := summedMemory(&perTask); !slices.Equal(ids, []int{0, 3, 4}) {
		t.Errorf("rows of finished tasks are joined to %v", ids)
	}
}

// TestMemoryRowAxis: it begins where the first of the runs has a memory, which need not be the longest, and has room for the
// longest; the ends of tasks are marked if all runs agree on them.
func TestMemoryRowAxis(t *testing.T) {
	run := func(without, steps int) (records []results.Record) {
		for step := range steps {
			r := apartRows()
			switch r.Step = step; {
			case step < without:
				r.IDs = []int{3, 4, 5, 6}
			case step == steps-1:
				r.IDs = []int{0, -1, 3, 5} // task 4 has ended
			}
			records = append(records, r)
		}
		return records
	}
	for _, c := range []struct{ without, first, second, from, to, key int }{{0, 30, 30, 0, 29, 3}, {0, 30, 45, 0, 44, 2}, {10, 45, 30, 4, 44, 2}} {
		f, err := MemoryRow(Light, Recorded{Label: "a", Method: "er", Records: run(c.without, c.first)}, Recorded{Label: "b", Method: "mgda", Records: run(c.from, c.second)})
		if err != nil {
			t.Fatal(err)
		}
		if p := f.Rows[0][0]; p.X.Min != float64(c.from) || p.X.Max != float64(c.to) || len(f.key) != c.key {
			t.Errorf("%+v: the axis goes from %v to %v and the key has %d entries", c, p.X.Min, p.X.Max, len(f.key))
		}
	}
}

func TestPromisesOf(t *testing.T) {
	r := exact() // J₀·d = 3.2, σ₀‖d‖² = 3.2
	r.Weights, r.Losses, r.LossesAfter = r.Lambda, []float64{2, 1, 1}, []float64{1.75, 1, 1}
	apart := apartRows()
	apart.Step, apart.LossesAfter = 1, []float64{.5, 1.25, 1, 1}
	silent := exact()
	half := exact() // with weights that were rescaled, half of it is guaranteed
	half.Weights, half.Losses, half.LossesAfter = []float64{1.6, .6, 0}, r.Losses, r.LossesAfter
	if p := PromisesOf(.1, []results.Record{half})[0]; !scalar.EqualWithinAbs(p.Guaranteed, -.16, 1e-12) || !scalar.EqualWithinAbs(p.Predicted, -.16, 1e-12) {
		t.Errorf("rescaled: %+v", p)
	}
	bound := half
	bound.Status = emgd.FloorBinding.String()
	if p := PromisesOf(.1, []results.Record{bound})[0]; !math.IsNaN(p.Guaranteed) {
		t.Errorf("with a floor that binds: %+v", p)
	}
	if _, err := StepGeometry(Light, bound); err == nil {
		t.Errorf("geometry with a floor that binds: %v", err)
	}
	penalty := apartRows()
	penalty.IDs, penalty.LossesAfter = []int{0, rehearsal.PenaltyRow, 3, 4}, []float64{.5, 99, 1, 1}
	if p := PromisesOf(.1, []results.Record{penalty})[0]; p.Changed != .5-penalty.Losses[0] {
		t.Errorf("the penalty counts as the memory: %+v", p)
	}
	got := PromisesOf(.1, []results.Record{r, apart, silent})
	if len(got) != 2 {
		t.Fatalf("%d promises of two steps that were observed", len(got))
	}
	if p := got[0]; !scalar.EqualWithinAbs(p.Predicted, -.32, 1e-12) || !scalar.EqualWithinAbs(p.Guaranteed, -.32, 1e-12) || p.Changed != -.25 {
		t.Errorf("%+v", p)
	}
	if p := got[1]; !scalar.EqualWithinAbs(p.Predicted, -.125, 1e-12) || !math.IsNaN(p.Guaranteed) || p.Changed != -.25 {
		t.Errorf("without a certificate: %+v", p)
	}
}

func TestRelativeDrift(t *testing.T) {
	before := [][]float64{{0, 0}, {2, 0}} // a mean squared distance of 1 from their mean
	if got, err := RelativeDrift(before, [][]float64{{0, 3}, {2, 3}}); err != nil || got != 3 {
		t.Errorf("drift %v (%v), want 3", got, err)
	}
}

func TestTestClaims(t *testing.T) {
	zero := make([]float64, 9)
	up := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	mixed := []float64{1, -2, 3, -4, 5, -6, 7, -8, 4}
	tested, err := TestClaims(0.05, Claim{"up", up, zero}, Claim{"mixed", mixed, zero}, Claim{"few", up[:3], zero[:3]}, Claim{"six", up[:6], zero[:6]})
	if err != nil {
		t.Fatal(err)
	}
	if c := tested[0]; c.Mean != 5 || c.P != 2.0/512 || c.Adjusted != 2*c.P || !c.Holds(0.05) {
		t.Errorf("all differences in one direction: %+v", c)
	}
	if c := tested[1]; c.Mean != 0 || c.Adjusted != 1 || c.Holds(0.05) {
		t.Errorf("differences that cancel: %+v", c)
	}
	for _, c := range tested[2:] { // six pairs could show something alone, but not after the correction for four claims
		few := new(stats.TooFewError)
		if !errors.As(c.Refused, &few) || !math.IsNaN(c.P) || c.Holds(1) {
			t.Errorf("%d pairs: %+v", len(c.A), c)
		}
	}
}

// Compositions of one rule look different, and the rule alone, if it comes first, as always.
func TestCompositionsStandApart(t *testing.T) {
	names := looks([]string{"avggrad", "avggrad+der-pp", "avggrad+der-pp+herding", "emgd-gmc+mir", "mgda", "mgda"}, func(i int) bool { return i != 4 })
	if want := []string{"avggrad", "avggrad+1", "avggrad+2", "emgd-gmc", "mgda+1", "mgda"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// TestPenaltyIsNoMemory: the row of a penalty counts neither as the memory nor as a task, wherever it stands.
func TestPenaltyIsNoMemory(t *testing.T) {
	plain := apartRows()
	ids, gram := summedMemory(&plain)
	penalised, moved := apartRows(), apartRows()
	penalised.IDs = append([]int{rehearsal.PenaltyRow}, penalised.IDs...)
	penalised.Gram = []float64{9, 8, 7, 6, 5}
	for i := range 4 {
		penalised.Gram = append(append(penalised.Gram, float64(8-i)), plain.Gram[4*i:4*i+4]...)
	}
	order := []int{2, 0, 3, 1}
	moved.Gram = nil
	for i, from := range order {
		moved.IDs[i] = plain.IDs[from]
		for _, other := range order {
			moved.Gram = append(moved.Gram, plain.Gram[4*from+other])
		}
	}
	for _, r := range []results.Record{penalised, moved} {
		if gotIDs, got := summedMemory(&r); !slices.Equal(gotIDs, ids) || !slices.Equal(got, gram) {
			t.Errorf("rows %v: %v, %v; want %v, %v", r.IDs, gotIDs, got, ids, gram)
		}
	}
	alone := results.Record{IDs: []int{rehearsal.PenaltyRow, 2}, Gram: []float64{1, 0, 0, 1}, Weights: []float64{.5, .5}}
	if m, ok := memoryOf(&alone); ok {
		t.Errorf("a penalty is a memory: %+v", m)
	}
}

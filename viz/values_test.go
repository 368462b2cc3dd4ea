package viz

import (
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

func twoTasks() *results.Run {
	return &results.Run{
		ID: "r", Method: "mgda", MethodTitle: "MGDA", Dataset: "glyphs", Increment: "task", Steps: 8,
		Tasks: []results.Task{
			{ID: 1, Classes: []int{0, 1}, Start: 0, End: 3, AccEnd: .9, AccFinal: .8},
			{ID: 2, Classes: []int{2, 3, 4, 5}, Start: 2, End: 7, AccEnd: .7, AccFinal: .7},
		},
		Curve: []results.Point{{Step: 3, Mean: .5}, {Step: 7, Mean: .75}},
	}
}

func TestSpans(t *testing.T) {
	// Task 1 on steps 0–3, task 2 on 2–7, the memory from 4 on.
	gap := &results.Run{Tasks: []results.Task{{ID: 1, Start: 1, End: 3}, {ID: 2, Start: 6, End: 8},
		{ID: 3, Start: 9, End: 9}, {ID: 4, Start: 20, End: 21}}}
	if got, want := spans(gap), []span{{0, 1, 0, false}, {1, 4, 1, false}, {4, 6, 0, false}, {6, 9, 2, true},
		{9, 10, 2, true}, {10, 20, 0, false}, {20, 22, 2, true}}; !slices.Equal(got, want) {
		t.Errorf("with gaps %v, want %v", got, want)
	}
	if got, want := rehearsals(gap), [][2]int{{6, 10}, {20, 22}}; !slices.Equal(got, want) {
		t.Errorf("the memory rehearses at %v, want %v", got, want)
	}
	want := []span{{0, 2, 1, false}, {2, 4, 2, false}, {4, 8, 2, true}}
	if got := spans(twoTasks()); !slices.Equal(got, want) {
		t.Errorf("K(t) = %v, want %v", got, want)
	}
	without := twoTasks()
	without.Config = []byte(`{"memory":{"policy":"per_class","budget":0}}`)
	if got, want := spans(without), []span{{0, 2, 1, false}, {2, 4, 2, false}, {4, 8, 1, false}}; !slices.Equal(got,
		want) || len(rehearsals(without)) > 0 {
		t.Errorf("without a memory K(t) = %v, want %v; it rehearses at %v", got, want, rehearsals(without))
	}
}

func TestChance(t *testing.T) {
	r := twoTasks()
	for _, c := range []struct {
		increment string
		step      int
		want      float64
	}{{"task", 0, 50}, {"task", 2, 37.5}, {"class", 0, 50}, {"class", 7, 100.0 / 6}, {"task", -1, 0}} {
		t.Run(c.increment, func(t *testing.T) {
			r.Increment = c.increment
			if got := chance(r, c.step); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%s-incremental, step %d: %v %%, want %v", c.increment, c.step, got, c.want)
			}
		})
	}
}

func TestMeanCurve(t *testing.T) {
	a, b := twoTasks(), twoTasks()
	b.Curve = []results.Point{{Step: 1, Mean: 0}, {Step: 5, Mean: .4}, {Step: 9, Mean: .6}}
	c := meanCurve([]*results.Run{a, b})
	// Both have values from step 3 to step 7 only; a(5) = .625, b(3) = .2 and b(7) = .5 lie
	// between evaluations.
	if len(c) != 3 {
		t.Fatalf("%d spots: %v", len(c), c)
	}
	// the deviation of the population
	for i, want := range []spot{{3, 35, 15, 2}, {5, 51.25, 11.25, 2}, {7, 62.5, 12.5, 2}} {
		switch {
		case c[i].x != want.x:
			t.Errorf("c[i].x is %g; want %g", c[i].x, want.x)
		case math.Abs(c[i].mean-want.mean) > 1e-9:
			t.Errorf("math.Abs(c[i].mean-want.mean) is %g; want at most 1e-9", math.Abs(c[i].mean-want.mean))
		case math.Abs(c[i].std-want.std) > 1e-9:
			t.Errorf("math.Abs(c[i].std-want.std) is %g; want at most 1e-9", math.Abs(c[i].std-want.std))
		case c[i].values != 2:
			t.Errorf("c[i].values is %d; want 2", c[i].values)
		}
	}
}

// exact is the step of docs/method.md §9: J = [[1,0,0],[0,2,0],[2,2,1]], σ = (.2,.3,.5).
func exact() results.Record {
	return results.Record{
		IDs: []int{0, 1, 2}, Gram: []float64{1, 0, 2, 0, 4, 4, 2, 4, 9},
		Sigma: []float64{.2, .3, .5}, Lambda: []float64{3.2, 1.2, 0}, Slacks: []float64{0, 0, 3.2},
		NormD: 4, Status: "optimal",
	}
}

func TestCheckCertificates(t *testing.T) {
	broken := exact()
	broken.Slacks = []float64{-0.8, 0, 3.2} // scale: 1·4 + .2·16 = 7.2
	stationary := exact()
	stationary.Status, stationary.Slacks, stationary.NormD = "stationary", []float64{0, 0, 0}, 0
	gap := exact()
	gap.Gap = 1e-3
	unsolved := exact()
	unsolved.Status = "iteration-limit"
	zero := exact() // the second gradient is zero and left out
	zero.Gram = []float64{1, 0, 2, 0, 0, 0, 2, 0, 9}
	zero.Lambda[1], zero.Slacks[1] = 0, -0.3*16
	plain := results.Record{IDs: []int{1}, Weights: []float64{1}}

	got := CheckCertificates([]results.Record{exact(), broken, stationary, gap, unsolved, zero, plain})
	want := CertificateStats{Steps: 6, Holding: 3, Stationary: 1, WorstSlack: -0.8 / 7.2, WorstGap: 1e-3}
	if math.Abs(got.WorstSlack-want.WorstSlack) > 1e-12 {
		t.Errorf("worst slack %v, want %v", got.WorstSlack, want.WorstSlack)
	}
	got.WorstSlack = want.WorstSlack
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := CheckCertificates(nil); got != (CertificateStats{}) {
		t.Errorf("no records: %+v", got)
	}
}

// Text keeps a contrast of 4.5 (WCAG AA) and every hue one of 2 to the background.
func TestContrast(t *testing.T) {
	for side := range 2 { // light and dark
		for _, c := range []Color{Ink, Muted} {
			if got := contrast(sideOf(c, side), sideOf(Background, side)); got < 4.5 {
				t.Errorf("text %v: %.1f", c, got)
			}
		}
		for _, c := range slices.Concat(hues[:], own[:], ramp[:]) {
			if got := contrast(sideOf(c, side), sideOf(Background, side)); got < 2 {
				t.Errorf("line %v: %.1f", c, got)
			}
		}
		for i := range 20 {
			c := TaskColor(i, 20)
			if got := contrast(sideOf(c, side), sideOf(readable(c), side)); got < 4.5 {
				t.Errorf("text on bar %v: %.1f", c, got)
			}
		}
	}
	if c := ColorOf(color.Black); c.Light != (color.NRGBA{A: 255}) || c.Dark != Ink.Dark {
		t.Errorf("black becomes %v on dark screens", c.Dark)
	}
}

func TestRoundTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{0, 410, 7, "0 100 200 300 400"},
		{2.945, 3.005, 5, "2.96 2.98 3.00"},
		{-0.2, 1.0, 6, "-0.2 0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 5000, 7, "0 1000 2000 3000 4000 5000"},
		{1, 1, 5, ""},
		{0, 4.2e-20, 5, "0 1e-20 2e-20 3e-20 4e-20"},
		{-1e-20, 1e-19, 3, "0 5e-20 1.0e-19"},
		{0, 2e300, 3, "0 1e+300 2e+300"},
	} {
		var labels []string
		for _, tick := range (Ticks{N: c.n}).Ticks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("[%v, %v]: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

func TestMoveApart(t *testing.T) {
	ys := []vg.Length{0, 1, 1, 50, 99, 100}
	moveApart(ys, 10, 0, 100)
	for i, y := range ys {
		t.Run(fmt.Sprint(y), func(t *testing.T) {
			switch {
			case y < 0:
				t.Errorf("labels at %v: y is %g; want at least 0", ys, y)
			case y > 100:
				t.Errorf("labels at %v: y is %g; want at most 100", ys, y)
			case i > 0 && y-ys[i-1] < 10-1e-9:
				t.Errorf("labels at %v: too close or outside", ys)
			}
		})
	}
	if ys[3] != 50 {
		t.Errorf("a label with room was moved to %v", ys[3])
	}
}

// TestGroups: runs that differ in a parameter, a setting or a variant are not averaged, their
// labels say in which, and they look different; seed, label set and timeline only repeat an
// experiment.
func TestGroups(t *testing.T) {
	param := func(tau any) func(*results.Run) {
		return func(r *results.Run) { r.Params = map[string]any{"tau": tau} }
	}
	config := func(text string) func(*results.Run) {
		return func(r *results.Run) { r.Config = json.RawMessage(text) }
	}
	variant := func(v string) func(*results.Run) { return func(r *results.Run) { r.Variant = v } }
	for name, c := range map[string]struct {
		changes []func(*results.Run)
		want    []string // labels, and how many runs
	}{
		"parameters": {[]func(*results.Run){param(5.0), param(1.0), param("5")}, []string{"MGDA tau=5: 2", "MGDA tau=1: 1"}},
		"settings": {[]func(*results.Run){
			config(`{"seed": 1, "optimizer": {"name": "adam", "lr": 0.003}, "batch": 16}`),
			config(`{"seed": 2, "labelset": 3, "timeline": 4, "optimizer": {"name": "adam", "lr": 0.003}, "batch": 16}`),
			config(`{"seed": 1, "optimizer": {"name": "adam", "lr": 0.01}, "batch": 16}`),
		}, []string{"MGDA optimizer.lr=0.003: 2", "MGDA optimizer.lr=0.01: 1"}},
		"variants": {
			[]func(*results.Run){variant(""), variant("edit η=0.01"), variant("extra update"), variant("edit η=0.01")},
			[]string{"MGDA: 1", "MGDA + edit η=0.01: 2", "MGDA + extra update: 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []*results.Run
			for _, change := range c.changes {
				r := twoTasks()
				change(r)
				runs = append(runs, r)
			}
			groups, err := grouped(runs)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			looks := map[string]bool{}
			for _, g := range groups {
				got = append(got, fmt.Sprintf("%s: %d", g.Label, len(g.Runs)))
				looks[fmt.Sprint(g.Style)] = true
			}
			if !slices.Equal(got, c.want) || len(looks) != len(groups) {
				t.Errorf("groups %q with %d looks, want %q", got, len(looks), c.want)
			}
		})
	}
}

package method

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestParameters gives every declared parameter its default, good spellings and bad values.
func TestParameters(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		d := must.Get(Lookup(name))(t)
		for _, p := range d.Params {
			good, bad := []any{p.Default, fmt.Sprint(p.Default)}, []any{}
			switch p.Default.(type) {
			case float64:
				bad = append(bad, "much", math.NaN(), "NaN", true, nil)
			case bool:
				bad = append(bad, "maybe", 2)
			}
			if len(p.Choices) > 0 {
				bad = append(bad, "another", 7)
				good = append(good, p.Choices[0])
			}
			for _, v := range good {
				build(t, name, map[string]any{p.Name: v})
			}
			for _, v := range bad {
				if _, err := New(name, map[string]any{p.Name: v}); err == nil {
					t.Errorf("%s = %v: no error", p.Name, v)
				}
			}
			if p.Doc == "" {
				t.Errorf("%s has no Doc", p.Name)
			}
		}
		if _, err := New(name, map[string]any{"nonsense": 1}); err == nil {
			t.Error("an unknown parameter is accepted")
		}
	})
}

// TestValuesOutOfRange checks ranges that tags cannot express.
func TestValuesOutOfRange(t *testing.T) {
	for name, list := range map[string][]values{
		"emgd-gmc": {{"tau": 0}, {"tau": -1.5}, {"tau": "nan"}, {"tau": "hot"}, {"momentum": 1}, {"floor": -1},
			{"floor": "low"}, {"floor": "inf"}},
		"emgd-gs": {{"tau": "auto"}}, "cr-mogm": {{"method": "cr-mogm"}, {"method": "nothing"}, {"method": "graddrop"}},
		"gdumb": {{"min_lr": 1}}, "mdmtr": {{"task_margin": 3.14}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range list {
				if _, err := New(name, p); err == nil {
					t.Errorf("%s %v: no error", name, p)
				}
			}
		})
	}
}

func TestRescale(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		for _, z := range zoo("normal") {
			s := z.step(1)
			native := weigh(t, build(t, name, nil), s)
			mean := weigh(t, build(t, name, map[string]any{"rescale": "mean"}), z.step(1))
			match := build(t, name, map[string]any{"rescale": "match_avg"})
			w, out := outcome(t, match, z.step(1))
			length := normOf(s.Gram, w)
			if out.Direction != nil {
				length = math.Sqrt(inner(out.Direction, out.Direction))
			}
			if !match.Needs().Gram {
				t.Fatal("match_avg does not ask for the Gram matrix")
			}
			average := make([]float64, len(w))
			fill(average, 1/float64(len(w)))
			if want := normOf(s.Gram, average); math.Abs(length-want) > 1e-9*want {
				t.Errorf("%s: match_avg has ‖d‖ = %g, the mean gradient %g", z.name, length, want)
			}
			if math.Abs(math.Abs(total(mean))-1) > 1e-12 {
				t.Errorf("%s: mean has Σw = %g", z.name, total(mean))
			}
			for _, x := range [][]float64{mean, w} {
				wants(t, scaled([][]float64{x}, total(native)/total(x))[0], native, 1e-9, "%s: rescaled weights", z.name)
			}
		}
	})
}

// TestRescaleKeepsTheDirection: where negative weights outweigh the others, and where they cancel.
func TestRescaleKeepsTheDirection(t *testing.T) {
	for _, c := range [][2][]float64{ // natively, and with rescale=mean
		{{3, 1}, {.75, .25}}, {{2, -5}, {2. / 3, -5. / 3}}, {{1, -1}, {1, -1}}, {{1, 1e-9 - 1}, {1, 1e-9 - 1}},
	} {
		s := sample{rows: [][]float64{{1, 0}, {0, 1}}}.step(1)
		w := weigh(t, build(t, "constant", values{"memory": c[0][0], "task": c[0][1], "rescale": "mean"}), s)
		if !near(w, c[1], 1e-15) {
			t.Errorf("%v became %v, want %v", c[0], w, c[1])
		}
	}
}

// TestRescaleLeavesZeroAlone: where d is 0 but for rounding, its length cannot be matched.
func TestRescaleLeavesZeroAlone(t *testing.T) {
	for _, name := range []string{"mgda", "emgd-gmc", "emgd-gs"} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"strongly stationary", "weakly stationary", "opposites", "all zero"} {
				for _, z := range zoo(kind) {
					native := weigh(t, build(t, name, nil), z.step(1))
					for _, mode := range []string{"mean", "match_avg"} {
						w := weigh(t, build(t, name, map[string]any{"rescale": mode}), z.step(1))
						if slices.Max(w) > 1.001*slices.Max(native) && len(w) > 1 {
							t.Errorf("%s, %s: rescale=%s has weights %v, natively %v", name, z.name, mode, w, native)
						}
					}
				}
			}
		})
	}
}

// TestResolve: given values in the parameter's type, and defaults; names of compositions are the
// full ones.
func TestResolve(t *testing.T) {
	p := must.Get(Resolve("emgd-gmc+der-pp", map[string]any{"alpha": "0.5"}))(t)
	if p["der-pp.alpha"] != 0.5 || p["emgd-gmc.momentum"] != 0.9 {
		t.Errorf("%v", p)
	}
	if _, err := Resolve("emgd-gmc", map[string]any{"x": 1}); err == nil {
		t.Error("an unknown parameter is accepted")
	}
}

// TestFollowOfAComposition: losses that do not fit their ids are an error, as without a rehearsal.
func TestFollowOfAComposition(t *testing.T) {
	f, ok := as[Follower](t, build(t, "famo+der-pp", nil))
	if !ok {
		t.Fatal("it does not follow")
	}
	for _, losses := range [][]float64{{1}, {1, 2, 3, 4}} {
		if err := f.Follow([]int{MemoryID, -1, 1}, losses); err == nil {
			t.Errorf("%d losses for 3 ids are accepted", len(losses))
		}
	}
}

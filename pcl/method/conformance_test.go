package method

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// This file has the conformance suite, which every registered method must pass, and every part of a
// rehearsal joined with a rule.

// compositions are some rules, each with every part that it can be joined with.
var compositions = sync.OnceValue(func() (list []string) {
	for _, rule := range []string{"emgd-gmc", "upgrad", "famo", "graddrop"} {
		for _, part := range rehearsal.Names() {
			for _, name := range []string{rule + "+" + part, rule + "+der-pp+" + part} { // which may need stored logits
				if _, err := New(name, nil); err == nil {
					list = append(list, name)
					break
				}
			}
		}
	}
	return list
})

// eachMethod runs a test for every registered method, and each for the compositions too.
func eachMethod(t *testing.T, test func(t *testing.T, name string)) { subtests(t, Names(), test) }

func each(t *testing.T, test func(t *testing.T, name string)) {
	subtests(t, slices.Concat(Names(), compositions()), test)
}

func subtests(t *testing.T, names []string, test func(t *testing.T, name string)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

func build(t testing.TB, name string, given map[string]any) Method {
	t.Helper()
	return must.Get(New(name, given))(t)
}

// outcome runs a step.
func outcome(t testing.TB, m Method, s *Step) (w []float64, out Outcome) {
	t.Helper()
	w = make([]float64, s.k())
	return w, must.Get(m.Weights(s, w))(t)
}

func weigh(t testing.TB, m Method, s *Step) []float64 {
	t.Helper()
	w, _ := outcome(t, m, s)
	return w
}

// forSigma are the weights of EMGD for given elastic factors.
func forSigma(t testing.TB, s *Step, sigma ...float64) []float64 {
	t.Helper()
	w := make([]float64, s.k())
	must.Get(build(t, "emgd-gmc", nil).(Elastic).WeightsFor(s, sigma, w))(t)
	return w
}

func try(m Method, s *Step) ([]float64, error) {
	w := make([]float64, s.k())
	_, err := m.Weights(s, w)
	return w, err
}

// act runs a step and returns the weights and d.
func act(t testing.TB, m Method, s *Step) (w, d []float64) {
	t.Helper()
	w, out := outcome(t, m, s)
	if out.Direction == nil {
		return w, direction(s.Rows, w)
	}
	return w, slices.Clone(out.Direction)
}

// as returns a method's role, if it has that.
func as[T any](t testing.TB, m Method) (role T, ok bool) {
	t.Helper()
	if w, wraps := m.(remembering); wraps {
		m = w.Method
	}
	r := rolesOf(m)
	if role, ok = any(r.Stateful).(T); !ok || reflect.TypeFor[T]() == reflect.TypeFor[Follower]() {
		role, ok = any(r.Follower).(T)
	}
	return role, ok
}

// remembering is a method with its state.
type remembering struct {
	Method
	Stateful
}

// stateful is the role that the test cannot do without.
func stateful(t testing.TB, m Method) remembering {
	t.Helper()
	s, ok := as[Stateful](t, m)
	if !ok {
		t.Fatalf("%s is not Stateful", Describe(m).Name)
	}
	return remembering{m, s}
}

func total(w []float64) (sum float64) {
	for _, x := range w {
		sum += x
	}
	return sum
}

// near says whether a and b agree to a part of tol of the largest entry.
func near(a, b []float64, tol float64) bool {
	scale := 0.0
	for i := range a {
		scale = max(scale, math.Abs(a[i]), math.Abs(b[i]))
	}
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= tol*scale) {
			return false
		}
	}
	return len(a) == len(b)
}

// wants compares vectors as near does.
func wants(t testing.TB, got, want []float64, tol float64, what string, about ...any) {
	t.Helper()
	if !near(got, want, tol) {
		t.Errorf("%s: %v, want %v", fmt.Sprintf(what, about...), got, want)
	}
}

// memoryIDs lists the ids of the memory's rows that a step of the method may have at most.
func memoryIDs(m Method) []int {
	r, err := rehearsal.New(partsOf(m)...)
	switch {
	case err == nil && r.PerTask:
		return []int{-1, -2}
	case err == nil && len(r.Rows) > 1:
		return []int{r.Rows[0].ID, r.Rows[1].ID}
	}
	return []int{MemoryID}
}

// named gives the step ids that the method may meet: the memory's rows, as many as there is room
// for, and tasks.
func (s *Step) named(m Method) *Step {
	memory := memoryIDs(m)
	for i := range s.IDs {
		if s.IDs[i] = 3 + 2*i; i < min(len(memory), len(s.IDs)-1) {
			s.IDs[i] = memory[i]
		}
	}
	return s
}

func TestInfoIsComplete(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		info := Describe(build(t, name, nil))
		switch d, err := Lookup(name); {
		case err != nil:
			t.Error(err)
		case strings.Contains(name, "+") && d.Info != info:
			t.Errorf("Lookup says %+v (%v)", d.Info, err)
		}
		if info.Name != name || !slices.Contains([]string{"mtl", "scl", "pcl"}, info.Family) ||
			slices.Contains([]string{info.Title, info.Rule, info.Source, info.Cost, info.State, info.SumW}, "") {
			t.Errorf("%+v", info)
		}
	})
}

// TestWeightsAreFinite runs the zoo; inputs must stay as they are.
func TestWeightsAreFinite(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		for kind := range kinds {
			for _, z := range zoo(kind) {
				m := build(t, name, nil)
				s := z.step(1).named(m)
				gram, losses, rows := slices.Clone(s.Gram), slices.Clone(s.Losses), slices.Concat(s.Rows...)
				w := make([]float64, s.k())
				out, err := m.Weights(s, w)
				if err != nil {
					t.Errorf("%s: %v", z.name, err)
				}
				if slices.ContainsFunc(slices.Concat(w, out.Direction), func(x float64) bool { return x-x != 0 }) {
					t.Errorf("%s: weights %v, direction %v", z.name, w, out.Direction)
				}
				if err := out.CheckDirection(m.Needs(), len(s.Rows[0])); err != nil {
					t.Errorf("%s: %v", z.name, err)
				}
				switch {
				case !slices.Equal(gram, s.Gram):
					t.Errorf("%s: gram is %v; want %v", z.name, gram, s.Gram)
				case !slices.Equal(losses, s.Losses):
					t.Errorf("%s: losses is %v; want %v", z.name, losses, s.Losses)
				case !slices.Equal(rows, slices.Concat(s.Rows...)):
					t.Errorf("%s: rows is %v; want %v", z.name, rows, slices.Concat(s.Rows...))
				}
			}
		}
	})
}

// TestOneStream: with K = 1 every method goes along the only gradient.
func TestOneStream(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		for _, id := range []int{MemoryID, 1, 77} {
			s := sample{rows: [][]float64{{3, 4}}, losses: []float64{2}}.step(1)
			s.IDs[0] = id
			if w := weigh(t, build(t, name, nil), s); !(w[0] > 0) {
				t.Errorf("stream %d alone has weight %g", id, w[0])
			}
		}
	})
}

// TestPermutation reorders the tasks over three steps; the weights go with their streams. For
// methods that draw at random it holds in distribution only.
func TestPermutation(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		if random(t, name) {
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		for k := 2; k <= 8; k += 2 {
			a, b := build(t, name, nil), build(t, name, nil)
			first := min(len(memoryIDs(a)), k-1)
			order := r.Perm(k - first)
			for i := range order {
				order[i] += first
			}
			order = append([]int{0, 1, 2}[:first:first], order...)
			for range 3 {
				s := sample{rows: gaussian(r, k, k+3), losses: gaussian(r, 1, k)[0]}
				var moved sample
				for i, x := range s.losses {
					s.losses[i] = math.Abs(x)
				}
				for _, i := range order {
					moved.rows, moved.losses = append(moved.rows, s.rows[i]), append(moved.losses, s.losses[i])
				}
				here, there := s.step(1).named(a), moved.step(1)
				for i, from := range order {
					there.IDs[i] = here.IDs[from]
				}
				w, d := act(t, a, here)
				got, e := act(t, b, there)
				var want []float64
				for _, i := range order {
					want = append(want, w[i])
				}
				if !near(e, d, 1e-8) || !near(got, want, 1e-8) {
					t.Fatalf("%d rows in order %v: weights %v and direction %v, want %v and %v", k, order, got, e, want, d)
				}
			}
		}
	})
}

func random(t *testing.T, name string) bool {
	s := sample{rows: gaussian(rand.New(rand.NewPCG(1, 1)), 6, 9), losses: []float64{1, 2, 3, 4, 5, 6}}
	var seen [2][]float64
	for i := range seen {
		m := build(t, name, nil)
		w, d := act(t, m, s.step(uint64(i+1)).named(m))
		seen[i] = slices.Concat(w, d)
	}
	return !slices.Equal(seen[0], seen[1])
}

// TestSumOfWeights checks what Info declares, where it is a rule that can be computed.
func TestSumOfWeights(t *testing.T) {
	tested := 0
	for _, name := range Names() {
		declared, _, _ := strings.Cut(Describe(build(t, name, nil)).SumW, " (")
		if !slices.Contains([]string{"1", "K", "1/σ_max ≤ Σλ ≤ 1/σ_min"}, declared) {
			continue
		}
		tested++
		for _, z := range zoo("normal") {
			w, out := outcome(t, build(t, name, nil), z.step(1))
			least, most := 1.0, 1.0
			switch {
			case declared == "K":
				least, most = float64(len(w)), float64(len(w))
			case declared != "1":
				least, most = 1/slices.Max(out.Certificate.Sigma), 1/slices.Min(out.Certificate.Sigma)
			}
			if sum := total(w); sum < least*(1-1e-12) || sum > most*(1+1e-12) {
				t.Errorf("%s, %s: Σw = %g, want %g to %g", name, z.name, sum, least, most)
			}
		}
	}
	if tested < 20 {
		t.Errorf("only %d methods declare a sum", tested)
	}
}

// TestNonConflict checks Jᵢ·d ≥ 0 where docs/method.md §4.17 promises it; of ConFIG for independent
// gradients only.
func TestNonConflict(t *testing.T) {
	for _, name := range []string{"mgda", "emgd", "emgd-gmc", "emgd-gs", "emgd-log", "upgrad", "dualproj", "nash-mtl",
		"fairgrad", "config"} {
		t.Run(name, func(t *testing.T) {
			for kind := range kinds {
				if name == "config" && !slices.Contains([]string{"normal", "one zero", "mixed lengths"}, kind) {
					continue
				}
				for _, z := range zoo(kind) {
					s := z.step(1)
					w := weigh(t, build(t, name, nil), s)
					length := 0.0
					for i, x := range w {
						length += math.Abs(x) * math.Sqrt(s.Gram[i*len(w)+i])
					}
					for i, gain := range times(s.Gram, w) {
						if gain < -1e-6*length*math.Sqrt(s.Gram[i*len(w)+i]) {
							t.Errorf("%s: J_%d·d = %g with weights %v", z.name, i, gain, w)
						}
					}
				}
			}
		})
	}
}

// play goes through steps of a life and returns all weights and directions. Before every step that
// resume names, the method is replaced by a new one that takes over its saved state.
func play(t *testing.T, name string, steps int, resume func(step int) bool) (all []float64, last Method) {
	t.Helper()
	l, m, draws := newLife(), build(t, name, nil), rand.New(rand.NewPCG(9, 9))
	for i := range steps {
		if resume(i) {
			m = reborn(t, name, m)
		}
		s, left := l.step(draws, memoryIDs(m))
		if st, ok := as[Stateful](t, m); ok && left > 0 {
			st.End(left)
		}
		w, out := outcome(t, m, s)
		all = slices.Concat(all, w, out.Direction)
		for _, id := range out.Dropped {
			all = append(all, float64(id))
		}
		if f, ok := as[Follower](t, m); ok {
			must.Do(t, f.Follow(s.IDs, scaled([][]float64{slices.Clone(s.Losses)}, 0.9)[0]))
		}
	}
	return all, m
}

func reborn(t *testing.T, name string, m Method) Method {
	t.Helper()
	next := build(t, name, nil)
	old, ok := as[Stateful](t, m)
	if !ok {
		return next // it declares that there is nothing to save
	}
	state := must.Get(old.MarshalState())(t)
	must.Do(t, stateful(t, next).UnmarshalState(state))
	return next
}

// TestDeterministicAndResumable: saved and restored once or before every step, a run has the same
// bits.
func TestDeterministicAndResumable(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		want, _ := play(t, name, 60, func(int) bool { return false })
		for what, resume := range map[string]func(int) bool{
			"played again": func(int) bool { return false }, "resumed before step 17": func(step int) bool { return step == 17 },
			"resumed before every step": func(step int) bool { return step > 0 },
		} {
			if got, _ := play(t, name, 60, resume); !slices.Equal(got, want) {
				t.Errorf("%s, the run differs", what)
			}
		}
	})
}

// TestManyJoinsAndLeaves checks that nothing of a thousand streams is left behind.
func TestManyJoinsAndLeaves(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		m := build(t, name, nil)
		if _, ok := as[Stateful](t, m); !ok {
			return
		}
		_, m = play(t, name, 1000, func(int) bool { return false })
		if state, err := stateful(t, m).MarshalState(); err != nil || len(state) > 2000 {
			t.Errorf("%d bytes of state (%v) for at most 8 streams", len(state), expect.Text(err))
		}
	})
}

// TestDamagedState: a damaged state is refused and changes nothing; null is that of a method that
// remembers nothing.
func TestDamagedState(t *testing.T) {
	const good, short, nan = `"AACAPwAAAEA="`, `"AACA"`, `"AADAfwAAAEA="` // 1, 2; three bytes; NaN, 2
	damaged := map[string][]string{
		"gradnorm": {`{"1":{"w":-1}}`}, "dwa": {`{"1":{"last":-1,"seen":2}}`, `{"1":{"last":1,"seen":3}}`},
		"imtl-l": {`{"1":99}`}, "imtl": {`{"1":99}`}, "uw": {`{"1":-99}`}, "gradvac": {`{"1":{"2":7}}`},
		"cr-mogm": {`{"weights":{"1":"x"}}`}, "modo": {`{"1":-0.5}`, `{"1":2}`, `{"x":0.5}`},
		"famo": {
			`{"1":{"v":-1}}`, `{"1":{"xi":1e99}}`, `{"1":{"moves":-1}}`, `{"1":{"least":-1}}`, `{"x":{}}`, `{"1":{"z":2}}`,
		},
		"moco": {
			`{"1":null}`, `{"1":{}}`, `{"1":{"mean":"","share":0.5,"steps":1}}`,
			`{"1":{"mean":` + short + `,"share":0.5,"steps":1}}`,
			`{"1":{"mean":` + nan + `,"share":0.5,"steps":1}}`, `{"1":{"mean":"!","share":0.5,"steps":1}}`,
			`{"1":{"mean":` + good + `,"share":1.5,"steps":1}}`, `{"1":{"mean":` + good + `,"share":0.5,"steps":0}}`,
		},
		"db-mtl": {`{"1":{"steps":1}}`, `{"1":{"mean":` + good + `,"steps":-1}}`},
		"excess-mtl": {
			`{"1":{"log":0}}`, `{"1":{"root":"AACAvw==","log":0,"sum":1,"seen":1}}`,
			`{"1":{"root":` + good + `,"log":1,"sum":1,"seen":1}}`,
			`{"1":{"root":` + good + `,"log":0,"sum":1,"seen":-2}}`,
		},
		"ldc-mtl": {`{"1":99}`}, "sam-gs": {`{"1":{"mean":` + good + `,"h":-1,"steps":1}}`, `{"1":{"h":0.5,"steps":1}}`},
		"gcond": {`{"1":{"last":` + good + `,"norm":0}}`, `{"1":{"norm":1}}`,
			`{"1":{"last":` + good + `,"norm":1,"wins":-1}}`},
		"pcd": {`{"1":{"square":-1,"weight":1}}`, `{"1":{"square":1,"weight":0}}`},
	}
	for _, name := range slices.Concat(Names(), []string{"mgda+ewc", "emgd-gmc+ewc"}) {
		m, ok := as[Stateful](t, build(t, name, nil))
		if !ok {
			continue
		}
		before := must.Get(m.MarshalState())(t)
		for _, bad := range append(damaged[name], ``, `[`, `"x"`, `[1]`) {
			if err := m.UnmarshalState(json.RawMessage(bad)); err == nil {
				t.Errorf("%s takes up %s", name, bad)
			}
			if after, err := m.MarshalState(); err != nil || string(after) != string(before) {
				t.Errorf("%s: the refused state %s left %s (%v)", name, bad, after, expect.Text(err))
			}
		}
	}
}

// TestBadSteps gives steps that do not fit together, and losses that are none.
func TestBadSteps(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		m, good := build(t, name, nil), sample{rows: [][]float64{{1, 2}, {3, 4}}, losses: []float64{1, 2}}
		needs := m.Needs()
		for _, c := range []struct {
			what   string
			needed bool
			width  int
			change func(s *Step)
		}{
			{"no streams", true, 0, func(s *Step) { s.IDs = nil }},
			{"short w", true, 1, func(*Step) {}},
			{"no Gram matrix", needs.Gram, 2, func(s *Step) { s.Gram = nil }},
			{"no rows", needs.Rows, 2, func(s *Step) { s.Rows = nil }},
			{"ragged rows", needs.Rows, 2, func(s *Step) { s.Rows = [][]float64{{1, 2}, {3}} }},
			{"a short cross matrix", needs.Cross, 2, func(s *Step) { s.Cross = s.Cross[:3] }},
			{"one loss", needs.Losses, 2, func(s *Step) { s.Losses = s.Losses[:1] }},
			{"no source of random numbers", name == "rlw" || name == "graddrop", 2, func(s *Step) { s.Rand = nil }},
		} {
			if !c.needed {
				continue
			}
			s := good.step(1)
			c.change(s)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", c.what)
					}
				}()
				m.Weights(s, make([]float64, c.width))
			}()
		}
		for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
			if _, err := try(m, sample{rows: good.rows, losses: []float64{1, bad}}.step(1)); needs.Losses && err == nil {
				t.Errorf("a loss of %g: no error", bad)
			}
		}
	})
}

// TestDroppedStreams: a stream whose gradient is 0 is named, and the others have the weights that
// they have without it, over several steps.
func TestDroppedStreams(t *testing.T) {
	s := sample{rows: [][]float64{{1, 2}, {0, 0}, {3, 1}}, losses: []float64{1, 1, 1}}.step(1)
	rest := sample{rows: [][]float64{{1, 2}, {3, 1}}, losses: []float64{1, 1}}.step(1)
	s.IDs, rest.IDs = []int{1, 4, 9}, []int{1, 9}
	for _, name := range []string{
		"mgda", "emgd-gmc", "emgd-gs", "emgd-log", "imtl-g", "config", "aligned-mtl", "dualproj", "upgrad", "cagrad",
		"nash-mtl", "fairgrad", "sdmgrad",
		"maxdo-minmax", "maxdo-release", "pcgrad", "gradvac", "imtl", "capped-mgda", "modo", "moco", "db-mtl", "pcd",
		"dibs-mtl", "ntkmtl", "sam-gs", "gcond",
	} {
		t.Run(name, func(t *testing.T) {
			with, without, w := build(t, name, nil), build(t, name, nil), make([]float64, 3)
			for range 3 {
				s.Rand, rest.Rand = rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
				out, err := with.Weights(s, w)
				switch {
				case err != nil:
					t.Error(err)
				case !slices.Equal(out.Dropped, []int{4}):
					t.Errorf("out.Dropped is %v; want %v", out.Dropped, []int{4})
				case w[1] != 0:
					t.Errorf("w[1] is %g; want 0", w[1])
				}
				if want := weigh(t, without, rest); !slices.Contains([]string{"modo", "moco"}, name) &&
					!near([]float64{w[0], w[2]}, want, 1e-12) {
					t.Errorf("%v, without the stream %v", w, want)
				}
			}
		})
	}
	mem := sample{rows: [][]float64{{0, 0}, {1, 2}}, losses: []float64{1, 1}}.step(1)
	for _, name := range []string{"a-gem", "mega-2"} {
		t.Run(name, func(t *testing.T) {
			w := make([]float64, 2)
			out, err := build(t, name, nil).Weights(mem, w)
			switch {
			case err != nil:
				t.Errorf("%s beside a silent memory: %v", name, err)
			case !slices.Equal(out.Dropped, []int{MemoryID}):
				t.Errorf("%s beside a silent memory: out.Dropped is %v; want %v", name, out.Dropped, []int{MemoryID})
			case w[0] != 0:
				t.Errorf("%s beside a silent memory: w[0] is %g; want 0", name, w[0])
			case w[1] != 1:
				t.Errorf("%s beside a silent memory: w[1] is %g; want 1", name, w[1])
			}
		})
	}
}

package method

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The conformance suite: what every registered method must keep to, whatever its rule.

func each(t *testing.T, test func(t *testing.T, name string)) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

func build(t testing.TB, name string, given map[string]any) Method {
	t.Helper()
	m, err := New(name, given)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func weigh(t testing.TB, m Method, s *Step) []float64 {
	t.Helper()
	w, err := try(m, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func try(m Method, s *Step) ([]float64, error) {
	w := make([]float64, s.K())
	_, err := m.Weights(s, w)
	return w, err
}

// remembering is a method with its state.
type remembering struct {
	Method
	Stateful
}

// stateful is the role that the test cannot do without.
func stateful(t testing.TB, m Method) remembering {
	t.Helper()
	s, ok := As[Stateful](m)
	if !ok {
		t.Fatalf("%s is not Stateful", m.Info().Name)
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

func TestInfoIsComplete(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		info := build(t, name, nil).Info()
		if info.Name != name {
			t.Errorf("its Info says %q", info.Name)
		}
		if !slices.Contains([]string{"mtl", "scl", "pcl"}, info.Family) {
			t.Errorf("family %q", info.Family)
		}
		for field, text := range map[string]string{"Title": info.Title, "Rule": info.Rule, "Source": info.Source, "Cost": info.Cost, "State": info.State, "SumW": info.SumW} {
			if text == "" {
				t.Errorf("%s is empty", field)
			}
		}
	})
}

// TestWeightsAreFinite runs the zoo; inputs must stay as they are.
func TestWeightsAreFinite(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		for kind := range kinds {
			for _, z := range zoo(kind) {
				m, s := build(t, name, nil), z.step(1)
				gram, losses, rows := slices.Clone(s.Gram), slices.Clone(s.Losses), slices.Concat(s.Rows...)
				w := make([]float64, s.K())
				out, err := m.Weights(s, w)
				if err != nil {
					t.Errorf("%s: %v", z.name, err)
				}
				for _, x := range slices.Concat(w, out.Direction) {
					if math.IsNaN(x) || math.IsInf(x, 0) {
						t.Errorf("%s: weights %v, direction %v", z.name, w, out.Direction)
						break
					}
				}
				if direct := m.Info().Direct; direct != (out.Direction != nil) || direct && len(out.Direction) != len(s.Rows[0]) {
					t.Errorf("%s: a direction of %d entries for rows of %d; Info says %v", z.name, len(out.Direction), len(s.Rows[0]), direct)
				}
				if !slices.Equal(gram, s.Gram) || !slices.Equal(losses, s.Losses) || !slices.Equal(rows, slices.Concat(s.Rows...)) {
					t.Errorf("%s: the method changed its input", z.name)
				}
			}
		}
	})
}

// TestOneStream: with K = 1 every method goes along the only gradient.
func TestOneStream(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		for _, id := range []int{Memory, 1, 77} {
			s := sample{rows: [][]float64{{3, 4}}, losses: []float64{2}}.step(1)
			s.IDs[0] = id
			if w := weigh(t, build(t, name, nil), s); !(w[0] > 0) {
				t.Errorf("stream %d alone has weight %g", id, w[0])
			}
		}
	})
}

// TestPermutation reorders the tasks over three steps; the weights go with their streams. Methods
// that draw at random are left out: for them it holds in distribution only.
func TestPermutation(t *testing.T) {
	eachOf(t, 40, func(name string) bool { return !random(t, name) }, func(t *testing.T, name string) {
		r := rand.New(rand.NewPCG(1, 2))
		for k := 2; k <= 8; k++ {
			a, b := build(t, name, nil), build(t, name, nil)
			order := append([]int{0}, r.Perm(k-1)...)
			for i := 1; i < k; i++ {
				order[i]++
			}
			for range 3 {
				s := sample{rows: gaussian(r, k, k+3), losses: gaussian(r, 1, k)[0]}
				for i := range s.losses {
					s.losses[i] = math.Abs(s.losses[i])
				}
				var moved sample
				for _, i := range order {
					moved.rows, moved.losses = append(moved.rows, s.rows[i]), append(moved.losses, s.losses[i])
				}
				step := moved.step(1)
				step.IDs = order
				got, w := make([]float64, k), make([]float64, k)
				there, err := b.Weights(step, got)
				if err != nil {
					t.Fatal(err)
				}
				here, err := a.Weights(s.step(1), w)
				if err != nil {
					t.Fatal(err)
				}
				var want []float64
				for _, i := range order {
					want = append(want, w[i])
				}
				if !near(there.Direction, here.Direction, 1e-8) {
					t.Fatalf("%d rows in order %v: direction %v, want %v", k, order, there.Direction, here.Direction)
				}
				if !near(got, want, 1e-8) {
					t.Fatalf("%d rows in order %v: weights %v, want %v", k, order, got, want)
				}
			}
		}
	})
}

// eachOf runs a test for each method that it is about, of which there must be some.
func eachOf(t *testing.T, atLeast int, about func(name string) bool, test func(t *testing.T, name string)) {
	n := 0
	for _, name := range Names() {
		if about(name) {
			n++
			t.Run(name, func(t *testing.T) { test(t, name) })
		}
	}
	if n < atLeast {
		t.Errorf("only %d methods were tested, want at least %d", n, atLeast)
	}
}

func random(t *testing.T, name string) bool {
	s, w := zoo("normal")[27], make([]float64, len(zoo("normal")[27].rows))
	var seen [2][]float64
	for i := range seen {
		out, err := build(t, name, nil).Weights(s.step(uint64(i+1)), w)
		if err != nil {
			t.Fatal(err)
		}
		seen[i] = slices.Concat(w, out.Direction)
	}
	return !slices.Equal(seen[0], seen[1])
}

// TestSumOfWeights checks what Info declares, where it is a rule that can be computed.
func TestSumOfWeights(t *testing.T) {
	declaration := func(name string) string {
		declared, _, _ := strings.Cut(build(t, name, nil).Info().SumW, " (")
		return declared
	}
	computable := func(name string) bool {
		return slices.Contains([]string{"1", "K", "1/σ_max ≤ Σλ ≤ 1/σ_min"}, declaration(name))
	}
	eachOf(t, 20, computable, func(t *testing.T, name string) {
		declared := declaration(name)
		for _, z := range zoo("normal") {
			w := make([]float64, len(z.rows))
			out, err := build(t, name, nil).Weights(z.step(1), w)
			if err != nil {
				t.Fatal(err)
			}
			least, most := 1.0, 1.0
			switch declared {
			case "1":
			case "K":
				least, most = float64(len(w)), float64(len(w))
			case "1/σ_max ≤ Σλ ≤ 1/σ_min":
				least, most = 1/slices.Max(out.Certificate.Sigma), 1/slices.Min(out.Certificate.Sigma)
			}
			if sum := total(w); sum < least*(1-1e-12) || sum > most*(1+1e-12) {
				t.Errorf("%s: Σw = %g, want %g to %g", z.name, sum, least, most)
			}
		}
	})
}

// nonConflicting lists the methods that promise Jᵢ·d ≥ 0 for every stream (docs/method.md §4.17).
var nonConflicting = []string{"mgda", "emgd", "emgd-gmc", "emgd-gs", "emgd-log", "upgrad", "dualproj", "nash-mtl", "fairgrad"}

func TestNonConflict(t *testing.T) {
	for _, name := range nonConflicting {
		for kind := range kinds {
			for _, z := range zoo(kind) {
				s := z.step(1)
				w := weigh(t, build(t, name, nil), s)
				k, length := len(w), 0.0
				for i, x := range w {
					length += x * math.Sqrt(s.Gram[i*k+i])
				}
				for i := range w {
					gain := 0.0
					for j, x := range w {
						gain += x * s.Gram[i*k+j]
					}
					if gain < -1e-6*length*math.Sqrt(s.Gram[i*k+i]) {
						t.Errorf("%s: %s: J_%d·d = %g with weights %v", name, z.name, i, gain, w)
					}
				}
			}
		}
	}
}

// play goes through steps of a life and returns all weights. Before step stop, if it is positive,
// the method is replaced by a new one that takes over its saved state.
func play(t *testing.T, name string, steps, stop int) (weights []float64, last Method) {
	t.Helper()
	l, m, draws := newLife(), build(t, name, nil), rand.New(rand.NewPCG(9, 9))
	for i := range steps {
		if i == stop && stop > 0 {
			m = reborn(t, name, m)
		}
		s, left := l.step(draws)
		if st, ok := As[Stateful](m); ok && left > 0 {
			st.End(left)
		}
		w := make([]float64, s.K())
		out, err := m.Weights(s, w)
		if err != nil {
			t.Fatal(err)
		}
		w = append(w, out.Direction...)
		for _, x := range w {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("step %d: weights and direction %v", i, w)
			}
		}
		weights = append(weights, w...)
		if f, ok := As[Follower](m); ok {
			if err := f.Follow(s.IDs, scaled([][]float64{slices.Clone(s.Losses)}, 0.9)[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return weights, m
}

func reborn(t *testing.T, name string, m Method) Method {
	t.Helper()
	next := build(t, name, nil)
	old, ok := As[Stateful](m)
	if !ok {
		return next // it declares that there is nothing to save
	}
	state, err := old.MarshalState()
	if err != nil {
		t.Fatal(err)
	}
	if err := stateful(t, next).UnmarshalState(state); err != nil {
		t.Fatal(err)
	}
	return next
}

func TestDeterministicAndResumable(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		want, _ := play(t, name, 200, 0)
		if got, _ := play(t, name, 200, 0); !slices.Equal(got, want) {
			t.Error("two runs of one seed differ")
		}
		for _, stop := range []int{1, 17, 150} {
			if got, _ := play(t, name, 200, stop); !slices.Equal(got, want) {
				t.Errorf("saved and restored before step %d, the run differs", stop)
			}
		}
	})
}

// TestManyJoinsAndLeaves checks that nothing of ten thousand streams is left behind.
func TestManyJoinsAndLeaves(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		_, m := play(t, name, 10000, 0)
		if s, ok := As[Stateful](m); ok {
			state, err := s.MarshalState()
			if err != nil || len(state) > 2000 {
				t.Errorf("%d bytes of state (%v) for at most 8 streams", len(state), err)
			}
		}
	})
}

func TestDamagedStateIsRefused(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		s, ok := As[Stateful](build(t, name, nil))
		if !ok {
			return
		}
		for _, bad := range []string{``, `[`, `"x"`, `[1]`} {
			if err := s.UnmarshalState(json.RawMessage(bad)); err == nil {
				t.Errorf("state %q: no error", bad)
			}
		}
	})
}

// TestBadSteps gives steps that do not fit together.
func TestBadSteps(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		m, good := build(t, name, nil), sample{rows: [][]float64{{1, 2}, {3, 4}}, losses: []float64{1, 2}}
		refused := func(what string, change func(s *Step), width int) {
			t.Helper()
			s := good.step(1)
			change(s)
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, name) {
					t.Errorf("%s: panic %q, want one that names the method", what, text)
				}
			}()
			m.Weights(s, make([]float64, width))
		}
		refused("no streams", func(s *Step) { s.IDs = nil }, 0)
		refused("short w", func(*Step) {}, 1)
		if m.Info().NeedsGram {
			refused("no Gram matrix", func(s *Step) { s.Gram = nil }, 2)
		}
		if m.Info().NeedsRows {
			refused("no rows", func(s *Step) { s.Rows = nil }, 2)
			refused("ragged rows", func(s *Step) { s.Rows = [][]float64{{1, 2}, {3}} }, 2)
		}
		if m.Info().NeedsCross {
			refused("a short cross matrix", func(s *Step) { s.Cross = s.Cross[:3] }, 2)
		}
		if m.Info().NeedsLosses {
			refused("one loss", func(s *Step) { s.Losses = s.Losses[:1] }, 2)
		}
	})
}

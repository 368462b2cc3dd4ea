package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// The conformance suite again, for every preset and every method joined with every part that it can be joined with.

// pairs lists the presets, and the compositions of a registered method and a registered part that New makes.
var pairs = sync.OnceValue(func() (list []string) {
	for _, name := range Names() {
		if m, err := New(name, nil); err == nil {
			if _, preset := m.(*composed); preset {
				list = append(list, name)
			}
		}
		for _, part := range PartNames() {
			if pair := joinable(name, part); pair != "" {
				list = append(list, pair)
			}
		}
	}
	return list
})

// joinable is the composition of a method and a part, with the stored logits that the part may need; "" if there is
// none.
func joinable(name, part string) string {
	for _, pair := range []string{name + "+" + part, name + "+der-pp+" + part} {
		if _, err := New(pair, nil); err == nil {
			return pair
		}
	}
	return ""
}

// TestPairsThereAre: most rules take every part; those of serial continual learning all but a row per task.
func TestPairsThereAre(t *testing.T) {
	for _, part := range PartNames() {
		for _, rule := range []string{"avggrad", "emgd-gmc", "famo", "graddrop", "er"} {
			if pair := joinable(rule, part); (pair == "") != (rule == "er" && part == "per-task") || pair != "" && !slices.Contains(pairs(), pair) {
				t.Errorf("%s with %s is the composition %q", rule, part, pair)
			}
		}
	}
	if n := len(pairs()); n < 40*len(PartNames()) {
		t.Errorf("only %d compositions are made", n)
	}
}

// memoryIDs lists the ids of the memory's rows that a step of the composition may have.
func memoryIDs(m Method) [][]int {
	r := m.(*composed).rehearsal
	switch {
	case r.PerTask:
		return [][]int{nil, {-1}, {-1, -2}}
	case len(r.Rows) > 1:
		return [][]int{nil, {r.Rows[0].ID}, {r.Rows[0].ID, r.Rows[1].ID}}
	}
	return [][]int{nil, {Memory}}
}

// pairStep is a step of the memory's rows and tasks with the given ids.
func pairStep(r *rand.Rand, memory, tasks []int, draws *rand.Rand) *Step {
	s := drawSeveral(r, len(memory), len(tasks), 8).step(1)
	s.IDs, s.Rand = slices.Concat(memory, tasks), draws
	return s
}

type weighed struct {
	w, direction []float64
	dropped      []int
}

func weighPair(t *testing.T, name string, m Method, s *Step) weighed {
	t.Helper()
	before := *s
	before.IDs, before.Gram, before.Cross, before.Losses = slices.Clone(s.IDs), slices.Clone(s.Gram), slices.Clone(s.Cross), slices.Clone(s.Losses)
	rows := slices.Concat(s.Rows...)
	w := make([]float64, s.K())
	out, err := m.Weights(s, w)
	if err != nil {
		t.Fatalf("%s for rows %v: %v", name, s.IDs, err)
	}
	for _, x := range slices.Concat(w, out.Direction) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("%s for rows %v: weights %v, direction %v", name, s.IDs, w, out.Direction)
		}
	}
	if direct := m.Info().Direct; direct != (out.Direction != nil) || direct && len(out.Direction) != len(s.Rows[0]) {
		t.Fatalf("%s: a direction of %d entries; Info says %v", name, len(out.Direction), direct)
	}
	if !slices.Equal(before.IDs, s.IDs) || !slices.Equal(before.Gram, s.Gram) || !slices.Equal(before.Cross, s.Cross) || !slices.Equal(before.Losses, s.Losses) || !slices.Equal(rows, slices.Concat(s.Rows...)) {
		t.Fatalf("%s changed its input", name)
	}
	return weighed{w, slices.Clone(out.Direction), slices.Clone(out.Dropped)}
}

// TestPairsWeigh: for one to six rows, with none, one and two of the memory, weights are finite, the input stays as
// it is, and permuting the tasks permutes the weights of methods that do not draw at random.
func TestPairsWeigh(t *testing.T) {
	draw := map[string]bool{}
	for _, name := range pairs() {
		m := build(t, name, nil)
		rule := m.(*composed).rule.Info().Name
		if _, known := draw[rule]; !known {
			draw[rule] = random(t, rule)
		}
		for _, memory := range memoryIDs(m) {
			r := rand.New(rand.NewPCG(23, uint64(len(memory))))
			for k := max(1, len(memory)); k <= 6; k++ {
				tasks := []int{4, 5, 7, 8, 11, 12}[:k-len(memory)]
				s := pairStep(r, memory, tasks, rand.New(rand.NewPCG(1, 1)))
				here := weighPair(t, name, build(t, name, nil), s)
				if draw[rule] {
					continue
				}
				order := make([]int, k)
				for i := range order {
					if order[i] = i; i >= len(memory) {
						order[i] = len(memory) + k - 1 - i
					}
				}
				moved := moveRows(s, order)
				there := weighPair(t, name, build(t, name, nil), moved)
				var want []float64
				for _, i := range order {
					want = append(want, here.w[i])
				}
				if !near(there.w, want, 1e-8) || !near(there.direction, here.direction, 1e-8) {
					t.Errorf("%s for rows %v: weights %v and direction %v, in another order %v and %v", name, moved.IDs, there.w, there.direction, want, here.direction)
				}
			}
		}
	}
}

// TestPairsOfTheZoo: weights are finite also for the gradients that methods stumble over, from very short to very long.
func TestPairsOfTheZoo(t *testing.T) {
	for _, name := range pairs() {
		m := build(t, name, nil)
		memory := memoryIDs(m)
		for _, ids := range memory[len(memory)-1:] {
			for kind := range kinds {
				for k := len(ids); k <= 6; k++ {
					r := rand.New(rand.NewPCG(uint64(k), 5))
					rows := kinds[kind](r, k, k+3)
					for i := range rows {
						rows[i] = slices.Clone(rows[i])
					}
					scaled(rows, math.Pow(10, float64(15*(k%3-1))))
					s := sample{rows: rows, losses: make([]float64, k)}.step(1)
					for i := range s.Losses {
						s.Losses[i] = 3 * r.Float64()
					}
					s.IDs = slices.Concat(ids, []int{4, 5, 7, 8, 11, 12}[:k-len(ids)])
					weighPair(t, name+" on "+kind, build(t, name, nil), s)
				}
			}
		}
	}
}

// moveRows is the step with its rows in another order.
func moveRows(s *Step, order []int) *Step {
	k, out := s.K(), &Step{Rand: rand.New(rand.NewPCG(1, 1))}
	for _, i := range order {
		out.IDs, out.Losses, out.Rows = append(out.IDs, s.IDs[i]), append(out.Losses, s.Losses[i]), append(out.Rows, s.Rows[i])
		for _, j := range order {
			out.Gram, out.Cross = append(out.Gram, s.Gram[i*k+j]), append(out.Cross, s.Cross[i*k+j])
		}
	}
	return out
}

// pairLife plays steps of a composition in which tasks and memory rows come and go. If resume is true, the method is
// saved and restored before every step.
func pairLife(t *testing.T, name string, resume bool) (all []weighed) {
	t.Helper()
	m, r, draws := build(t, name, nil), rand.New(rand.NewPCG(24, 4)), rand.New(rand.NewPCG(9, 9))
	rows := memoryIDs(m)
	memory := [][]int{nil, nil, rows[1], rows[len(rows)-1], rows[len(rows)-1], rows[1], rows[len(rows)-1]}
	tasks := [][]int{{1}, {1, 2}, {2}, {2, 3, 4, 5}, {3, 4, 5}, {5}, {}}
	for i := range memory {
		if resume {
			m = reborn(t, name, m)
		}
		if i > 0 {
			for _, id := range tasks[i-1] {
				if st, ok := As[Stateful](m); ok && !slices.Contains(tasks[i], id) {
					st.End(id)
				}
			}
		}
		s := pairStep(r, memory[i], tasks[i], draws)
		all = append(all, weighPair(t, name, m, s))
		if f, ok := As[Follower](m); ok {
			must(t, f.Follow(s.IDs, scaled([][]float64{slices.Clone(s.Losses)}, 0.9)[0]))
		}
	}
	return all
}

// TestPairsResume: saved and restored at every step, the weights are the same to the last bit.
func TestPairsResume(t *testing.T) {
	for _, name := range pairs() {
		want, got := pairLife(t, name, false), pairLife(t, name, true)
		for i := range want {
			if !slices.Equal(got[i].w, want[i].w) || !slices.Equal(got[i].direction, want[i].direction) || !slices.Equal(got[i].dropped, want[i].dropped) {
				t.Errorf("%s, step %d: %+v, saved and restored before every step %+v", name, i, want[i], got[i])
				break
			}
		}
	}
}

// TestPairsRun plays whole runs of four rules with every part: saved and restored in the middle, the parameters and
// the memory are the same. The rules see the losses after a step, the rows themselves, or have a state.
func TestPairsRun(t *testing.T) {
	quick := map[string]values{"icarl": {"pool": 20}, "herding": {"pool": 20}, "gdumb": {"passes": 4}, "gss": {"subsets": 3, "subset_size": 4}}
	for _, rule := range []string{"emgd-gmc", "upgrad", "famo", "graddrop"} {
		for _, part := range PartNames() {
			name := joinable(rule, part)
			want := run(t, name, quick[part], perClass, 0)
			for _, stop := range []int{7, 14} {
				got := run(t, name, quick[part], perClass, stop)
				if !slices.Equal(got.at[rehearsal.Now], want.at[rehearsal.Now]) || !slices.Equal(got.store.Pixels(), want.store.Pixels()) {
					t.Errorf("%s: saved before step %d, the run differs", name, stop)
				}
				if a, b := got.accuracy(t), want.accuracy(t); a != b {
					t.Errorf("%s: saved before step %d, the accuracy is %g, not %g", name, stop, a, b)
				}
			}
		}
	}
}

// TestCompositionsLearn: six classes are told apart after a run, by chance one in six. EMGD, which must serve every
// row, is slower where the memory has several.
func TestCompositionsLearn(t *testing.T) {
	for name, p := range map[string]values{
		"emgd-gmc+der-pp": {"draws": "one"}, "upgrad+mir": nil, "emgd-gmc+icarl": {"pool": 20}, "emgd-gs+der-pp": {"rows": "apart"},
		"emgd-gmc+per-task": nil, "famo+der-pp": nil, "emgd-gmc+gss+der-pp": {"subsets": 3, "subset_size": 4}, "er+herding+ncm": {"pool": 20},
	} {
		for _, c := range []memory.Config{perClass, fixedTotal} {
			least := 0.6
			if p["rows"] == "apart" || strings.HasSuffix(name, "per-task") {
				least = 0.3
			}
			if got := run(t, name, p, c, 0).accuracy(t); got < least {
				t.Errorf("%s under %v: accuracy %g, want %g", name, c, got, least)
			}
		}
	}
}

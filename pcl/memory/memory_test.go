package memory

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/internal/must"
)

func newStore(t rapid.TB, policy string, budget int) *Store {
	t.Helper()
	s := must.Get(NewStore(Config{policy, budget}, 1))(t)
	return s
}

// candidates are n samples of each class; the pixel says which one it is.
func candidates(task, n int, classes ...int) []Item {
	var items []Item
	for _, c := range classes {
		for i := range n {
			items = append(items, Item{Task: task, Class: c, Pixels: []float32{float32(1000*task + 100*c + i)}})
		}
	}
	return items
}

func add(t rapid.TB, s *Store, items []Item) {
	t.Helper()
	s.Add(items)
}

// counts returns how many samples each class of each task has.
func counts(s *Store) map[part]int {
	n := map[part]int{}
	for i := range s.Len() {
		it := s.Item(i)
		n[part{it.Task, it.Class}]++
	}
	return n
}

func TestFixedTotalThinsOutOldClasses(t *testing.T) {
	s := newStore(t, "fixed_total", 20)
	if q := s.Quota([]int{0, 1}); q != 10 {
		t.Errorf("quota of the first task %d, want 10", q)
	}
	add(t, s, candidates(1, 50, 0, 1))
	before := slices.Clone(s.items)
	if q := s.Quota([]int{2}); q != 6 {
		t.Errorf("quota of a third class %d, want ⌊20/3⌋", q)
	}
	if q := s.Quota([]int{1}); q != 10 {
		t.Errorf("quota of a class that is stored already %d, want ⌊20/2⌋", q)
	}
	add(t, s, candidates(2, 50, 2))
	want := map[part]int{{1, 0}: 6, {1, 1}: 6, {2, 2}: 6}
	if got := counts(s); !reflect.DeepEqual(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
	for i := range 12 {
		if !slices.ContainsFunc(before, func(it Item) bool { return it.Pixels[0] == s.Item(i).Pixels[0] }) {
			t.Errorf("sample %v was not stored before", s.Item(i))
		}
	}
}

// TestBudgets adds random tasks and checks the budget and the balance of the classes.
func TestBudgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]string{"per_class", "fixed_total"}).Draw(t, "policy")
		budget := rapid.IntRange(20, 60).Draw(t, "budget")
		s := newStore(t, policy, budget)
		classes := 0
		for task := 1; task <= 4; task++ {
			var own []int
			for range rapid.IntRange(1, 5).Draw(t, "classes") {
				own = append(own, classes)
				classes++
			}
			add(t, s, candidates(task, s.Quota(own), own...))
			want := budget
			if policy == "fixed_total" {
				want = budget / classes
			}
			for g, got := range counts(s) {
				if got != want {
					t.Errorf("task %d class %d has %d samples of %d", g.task, g.class, got, want)
				}
			}
		}
	})
}

// TestFewerPlacesThanClasses: where not even one place is left for each class, some classes keep
// one sample, and nothing fails.
func TestFewerPlacesThanClasses(t *testing.T) {
	s := newStore(t, "fixed_total", 3)
	for task := 1; task <= 5; task++ {
		classes := []int{4 * task, 4*task + 1, 4*task + 2, 4*task + 3}
		add(t, s, candidates(task, s.Quota(classes), classes...))
		stored := map[int]bool{}
		for i := range s.Len() {
			stored[s.Item(i).Class] = true
		}
		if s.Len() != 3 || len(stored) != 3 {
			t.Fatalf("after task %d: %v, want three classes of one sample", task, counts(s))
		}
	}
}

// TestTasksShareTheirClass: the budget counts classes, however many tasks bring the same one. Every
// task keeps its share, and one with few samples leaves its places to the others.
func TestTasksShareTheirClass(t *testing.T) {
	for _, c := range []struct {
		policy string
		budget int
		brings []int // samples of class 0, by task
		want   map[part]int
	}{
		{"per_class", 5, []int{9, 9}, map[part]int{{1, 0}: 2, {2, 0}: 3}},
		{"per_class", 5, []int{9, 9, 9, 9}, map[part]int{{1, 0}: 1, {2, 0}: 1, {3, 0}: 1, {4, 0}: 2}},
		{"per_class", 5, []int{9, 1}, map[part]int{{1, 0}: 4, {2, 0}: 1}},
		{"per_class", 2, []int{9, 9, 9}, map[part]int{{2, 0}: 1, {3, 0}: 1}},
		{"fixed_total", 6, []int{9, 9}, map[part]int{{1, 0}: 3, {2, 0}: 3}},
	} {
		t.Run(c.policy, func(t *testing.T) {
			s := newStore(t, c.policy, c.budget)
			for i, n := range c.brings {
				add(t, s, candidates(i+1, n, 0))
			}
			if got := counts(s); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %d: tasks with %v samples of a class store %v, want %v", c.policy, c.budget, c.brings, got, c.want)
			}
		})
	}
}

// TestOnlyFiniteSamplesEnter tries every way into the memory.
func TestOnlyFiniteSamplesEnter(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			broken := Item{Task: 1, Class: 0, Pixels: []float32{0, bad}}
			logits := Item{Task: 1, Class: 0, Pixels: []float32{0, 0}, Logits: []float32{bad}}
			scored := Item{Task: 1, Class: 0, Pixels: []float32{0, 0}, Score: float64(bad)}
			good := Item{Task: 1, Class: 0, Pixels: []float32{0, 1}}
			s := newStore(t, "per_class", 9)
			add(t, s, []Item{broken, good, logits})
			switch {
			case s.Put(s.Len(), broken):
				t.Error("s.Put(s.Len(), broken) is true")
			case s.Put(s.Len(), logits):
				t.Error("s.Put(s.Len(), logits) is true")
			case s.Put(s.Len(), scored):
				t.Error("s.Put(s.Len(), scored) is true")
			case s.Put(0, broken):
				t.Error("s.Put(0, broken) is true")
			case s.Edit(0, broken.Pixels):
				t.Error("s.Edit(0, broken.Pixels) is true")
			case s.SetScore(0, scored.Score):
				t.Error("s.SetScore(0, scored.Score) is true")
			case s.Len() != 1:
				t.Errorf("s.Len() is %d; want 1", s.Len())
			}
			switch {
			case !slices.Equal(s.Item(0).Pixels, good.Pixels):
				t.Errorf("s.Item(0).Pixels is %v; want %v", s.Item(0).Pixels, good.Pixels)
			case s.Item(0).Edits != 0:
				t.Errorf("s.Item(0).Edits is %d; want 0", s.Item(0).Edits)
			case s.Item(0).Score != 0:
				t.Errorf("s.Item(0).Score is %g; want 0", s.Item(0).Score)
			}
			r := NewReservoir(1, 2, 1)
			for i := range 200 {
				r.Offer(0, []float32{float32(i), bad})
				r.Offer(0, []float32{float32(i), 0})
			}
			items := r.Items()
			if len(items) != 2 {
				t.Fatalf("the reservoir holds %d samples", len(items))
			}
			for _, it := range items {
				if !it.finite() {
					t.Errorf("the reservoir took %v", it.Pixels)
				}
			}
		})
	}
}

// TestSamplesStayAsTheyAre: samples that were taken out of a store do not change with it.
func TestSamplesStayAsTheyAre(t *testing.T) {
	s := newStore(t, "per_class", 3)
	add(t, s, []Item{{Task: 1, Class: 4, Pixels: []float32{0.5}}})
	before := s.Samples()
	rewind := s.Snapshot()
	s.Edit(0, []float32{0.9})
	s.SetScore(0, 7)
	edited := s.Samples()
	s.Edit(0, []float32{0.7})
	switch it := s.Item(0); {
	case it.Edits != 2:
		t.Errorf("after two edits: it.Edits is %d; want 2", it.Edits)
	case it.Pixels[0] != 0.7:
		t.Errorf("after two edits: it.Pixels[0] is %g; want 0.7", it.Pixels[0])
	case it.Original[0] != 0.5:
		t.Errorf("after two edits: it.Original[0] is %g; want 0.5", it.Original[0])
	case it.Score != 7:
		t.Errorf("after two edits: it.Score is %g; want 7", it.Score)
	}
	rewind()
	switch it := s.Item(0); {
	case it.Edits != 0:
		t.Errorf("after going back: it.Edits is %d; want 0", it.Edits)
	case it.Pixels[0] != 0.5:
		t.Errorf("after going back: it.Pixels[0] is %g; want 0.5", it.Pixels[0])
	case it.Original != nil:
		t.Errorf("after going back: it.Original is %v; want nil", it.Original)
	case it.Score != 0:
		t.Errorf("after going back: it.Score is %g; want 0", it.Score)
	}
	for want, samples := range map[float32]Samples{0.5: before, 0.9: edited} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			x := make([]float32, 1)
			if class := samples.Sample(0, x); class != 4 || x[0] != want {
				t.Errorf("a sample of class %d with %g, taken when it was %g", class, x[0], want)
			}
		})
	}
}

// TestRewind: draws that are taken back are made again.
func TestRewind(t *testing.T) {
	s := newStore(t, "per_class", 12)
	add(t, s, candidates(1, 12, 0))
	s.Draw(5)
	rewind := s.Snapshot()
	var passes [2][]int
	for i := range passes {
		for range 9 {
			passes[i] = append(passes[i], s.Draw(5)...)
		}
		rewind()
	}
	if !slices.Equal(passes[0], passes[1]) {
		t.Errorf("drawn %v, then %v", passes[0], passes[1])
	}
}

func sorted(x []int) []int { return slices.Sorted(slices.Values(x)) }

func TestDraw(t *testing.T) {
	s := newStore(t, "per_class", 12)
	add(t, s, candidates(1, 12, 0))
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	if got := s.Draw(20); !slices.Equal(sorted(got), all) {
		t.Errorf("a small store gave %v, want all of it", got)
	}
	var passes [][]int
	for range 2 {
		var pass []int
		for range 3 {
			pass = append(pass, s.Draw(4)...)
		}
		if !slices.Equal(sorted(pass), all) {
			t.Errorf("a pass gave %v, want every sample once", pass)
		}
		passes = append(passes, pass)
	}
	if slices.Equal(passes[0], passes[1]) || slices.Equal(passes[0], all) {
		t.Errorf("the passes are not shuffled: %v", passes)
	}
}

// TestReservoirIsUniform keeps 5 of 50 samples 2,000 times: each is kept about 200 times.
func TestReservoirIsUniform(t *testing.T) {
	const samples, quota, rounds = 50, 5, 2000
	var kept [samples]float64
	for run := range rounds {
		r := NewReservoir(1, quota, uint64(run))
		for i := range samples {
			r.Offer(3, []float32{float32(i)})
		}
		if len(r.Items()) != quota {
			t.Fatalf("kept %d samples, want %d", len(r.Items()), quota)
		}
		for _, it := range r.Items() {
			kept[int(it.Pixels[0])]++
		}
	}
	chi2, want := 0.0, float64(rounds*quota)/samples
	for _, n := range kept {
		chi2 += (n - want) * (n - want) / want
	}
	if chi2 > 85.4 { // the 0.999 quantile of χ² with 49 degrees of freedom
		t.Errorf("χ² = %.1f over 50 samples: %v", chi2, kept)
	}
}

// TestRanked keeps the first of each class, also when later classes make room scarce.
func TestRanked(t *testing.T) {
	s := newStore(t, "fixed_total", 8)
	ranked := func(class int) (items []Item) {
		for i := range 9 {
			items = append(items, Item{Task: class, Class: class, Pixels: []float32{float32(i)}})
		}
		return items
	}
	for class, want := range [][]float32{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 0, 1, 2, 3}, {0, 1, 0, 1, 0, 1}} {
		s.Rerank(class, ranked(class))
		if got := flatten(s.items); !slices.Equal(got, want) {
			t.Errorf("with %d classes it holds %v, want %v", class+1, got, want)
		}
	}
}

// TestRerank: the ranked samples of a task take the places of its stored ones, and of no others.
func TestRerank(t *testing.T) {
	s := newStore(t, "per_class", 3)
	of := func(task, class int, values ...float32) (items []Item) {
		for _, x := range values {
			items = append(items, Item{Task: task, Class: class, Pixels: []float32{x}})
		}
		return items
	}
	s.Rerank(1, of(1, 0, 1, 2, 3))
	s.Rerank(2, of(2, 1, 4, 5, 6))
	s.Rerank(1, of(1, 0, 9, 2, 8, 1))
	if got := flatten(s.items); !slices.Equal(got, []float32{4, 5, 6, 9, 2, 8}) {
		t.Errorf("it holds %v", got)
	}
	if s.Rerank(2, nil); s.Len() != 6 {
		t.Errorf("ranking nothing left %d samples", s.Len())
	}
}

// TestOtherSizes: a sample with another number of pixels does not enter.
func TestOtherSizes(t *testing.T) {
	s := newStore(t, "per_class", 8)
	add(t, s, candidates(1, 1, 0))
	long := Item{Task: 1, Class: 0, Pixels: []float32{1, 2}}
	switch {
	case s.Put(s.Len(), long):
		t.Error("s.Put(s.Len(), long) is true")
	case s.Put(0, long):
		t.Error("s.Put(0, long) is true")
	case s.Edit(0, long.Pixels):
		t.Error("s.Edit(0, long.Pixels) is true")
	case s.Edit(0, nil):
		t.Error("s.Edit(0, nil) is true")
	case s.Len() != 1:
		t.Errorf("s.Len() is %d; want 1", s.Len())
	}
	switch {
	case !s.Edit(0, []float32{5}):
		t.Error("s.Edit(0, []float32{5}) is false")
	case !s.SetLogits(0, []float32{1, 2, 3}):
		t.Error("s.SetLogits(0, []float32{1, 2, 3}) is false")
	case len(s.Item(0).Logits) != 3:
		t.Errorf("len(s.Item(0).Logits) is %d; want 3", len(s.Item(0).Logits))
	}
}

// TestSetBudget: a smaller budget keeps the first samples of each class, a larger one takes more
// from then on, and one that stays changes nothing, not even the draws.
func TestSetBudget(t *testing.T) {
	for policy, want := range map[string][]float32{"per_class": {100, 101, 102, 103, 200, 201, 202, 203},
		"fixed_total": {100, 101, 200, 201}} {
		t.Run(policy, func(t *testing.T) {
			s := newStore(t, policy, 12)
			s.items = candidates(0, 12, 1, 2)
			s.Draw(3)
			order := slices.Clone(s.order)
			switch s.setBudget(12); {
			case !slices.Equal(s.order, order):
				t.Errorf("the same budget: s.order is %v; want %v", s.order, order)
			case s.next != 3:
				t.Errorf("the same budget: s.next is %d; want 3", s.next)
			case s.Len() != 24:
				t.Errorf("the same budget: s.Len() is %d; want 24", s.Len())
			}
			if s.setBudget(4); !reflect.DeepEqual(flatten(s.items), want) {
				t.Errorf("a budget of 4: %v", flatten(s.items))
			}
			if s.setBudget(40); s.Len() != len(want) || s.Quota([]int{1, 2}) != map[string]int{"per_class": 40,
				"fixed_total": 20}[policy] {
				t.Errorf("a budget of 40: %d samples", s.Len())
			}
			for range 2 { // then it is empty already
				if s.setBudget(0); s.Len() != 0 || s.Draw(2) != nil {
					t.Errorf("a budget of 0: %d samples", s.Len())
				}
			}
		})
	}
}

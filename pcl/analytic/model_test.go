package analytic

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// drawn is a set of samples of classes 0 to 9, two of each task, with features as those behind a
// ReLU.
type drawn struct {
	class []int
	x     [][]float32
}

func draw(n, features int) (d drawn) {
	rng := rand.New(rand.NewPCG(7, 8))
	means := make([][]float32, 10)
	for c := range means {
		means[c] = make([]float32, features)
		for i := range means[c] {
			means[c][i] = float32(rng.NormFloat64())
		}
	}
	for i := range n {
		c := i % 10
		x := make([]float32, features)
		for k := range x {
			x[k] = max(0, means[c][k]+1.5*float32(rng.NormFloat64()))
		}
		d.class, d.x = append(d.class, c), append(d.x, x)
	}
	return d
}

func taskOf(class int) int { return 1 + class/2 }

// of are the samples of a task.
func (d drawn) of(task int) iter.Seq2[int, []float32] {
	return func(yield func(int, []float32) bool) {
		for i, c := range d.class {
			if taskOf(c) == task && !yield(c, d.x[i]) {
				return
			}
		}
	}
}

var heads = map[string]func() Head{
	"simplecil": func() Head { return ClassMeans{} },
	"lda":       func() Head { return LDA{} },
	"ranpac":    func() Head { return &RanPAC{M: 150, Seed: 3} },
}

func eachHead(t *testing.T, f func(t *testing.T, head func() Head)) {
	for name, head := range heads {
		t.Run(name, func(t *testing.T) { f(t, head) })
	}
}

// hash is of all bits: of the sums, and of the scores of some samples, which follow from the
// weights.
func hash(t *testing.T, m *Model, d drawn) string {
	t.Helper()
	h := sha256.New()
	h.Write(must.Get(json.Marshal(m))(t))
	w := must.Get(m.Weights())(t)
	for _, row := range w.w {
		for _, v := range row {
			fmt.Fprintf(h, "%x ", math.Float64bits(v))
		}
	}
	for _, x := range d.x[:20] {
		fmt.Fprintln(h, must.Get(w.ScoreInputs(x, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))(t))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func add(t *testing.T, m *Model, d drawn, order []int) {
	t.Helper()
	for _, i := range order {
		must.Do(t, m.Add(taskOf(d.class[i]), d.class[i], d.x[i]))
	}
}

// TestOneHash: 100 orders of the samples, with weights asked for in between, and saved and loaded
// in between, on one and two cores.
func TestOneHash(t *testing.T) {
	d := draw(600, 70)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	eachHead(t, func(t *testing.T, head func() Head) {
		want := ""
		for round := range 100 {
			runtime.GOMAXPROCS(1 + round%2)
			rng := rand.New(rand.NewPCG(uint64(round), 1))
			m, rest := New(head(), round%3 == 0), rng.Perm(len(d.x))
			for len(rest) > 0 {
				n := min(len(rest), 1+rng.IntN(300))
				add(t, m, d, rest[:n])
				rest = rest[n:]
				switch rng.IntN(3) {
				case 0:
					must.Get(m.Weights())(t)
				case 1:
					text := must.Get(json.Marshal(m))(t)
					m = New(head(), round%3 == 0)
					must.Do(t, json.Unmarshal(text, m))
				}
			}
			m.keep = false // the sums of tasks are no part of the hash
			for _, of := range m.tasks {
				of.sums = nil
			}
			got := hash(t, m, d)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("round %d: %s, want %s as in the first", round, got, want)
			}
		}
	})
}

// TestUnlearn: each task in turn, with its samples and with its kept sums.
func TestUnlearn(t *testing.T) {
	d := draw(700, 40)
	eachHead(t, func(t *testing.T, head func() Head) {
		for task := 1; task <= 5; task++ {
			var order, others []int
			for i, c := range d.class {
				order = append(order, i)
				if taskOf(c) != task {
					others = append(others, i)
				}
			}
			never := New(head(), false)
			add(t, never, d, others)
			want := hash(t, never, d)
			for _, keep := range []bool{false, true} {
				m, samples := New(head(), keep), d.of(task)
				add(t, m, d, order)
				must.Get(m.Weights())(t)
				if keep {
					samples = nil
				}
				must.Do(t, m.Unlearn(task, samples))
				m.keep = false
				for _, of := range m.tasks {
					of.sums = nil
				}
				if got := hash(t, m, d); got != want {
					t.Errorf("task %d, sums kept %v: %s, want %s", task, keep, got, want)
				}
			}
		}
	})
}

// TestUnlearnRefuses: samples that are not the task's change nothing.
func TestUnlearnRefuses(t *testing.T) {
	d := draw(300, 20)
	m := New(LDA{}, false)
	add(t, m, d, rand.New(rand.NewPCG(1, 1)).Perm(len(d.x)))
	want := hash(t, m, d)
	fewer := func(yield func(int, []float32) bool) {
		first := true
		for c, x := range d.of(2) {
			if !first && !yield(c, x) {
				return
			}
			first = false
		}
	}
	otherClass := func(yield func(int, []float32) bool) {
		for c, x := range d.of(2) {
			if !yield(5-c, x) { // the task has classes 2 and 3
				return
			}
		}
	}
	for name, try := range map[string]func() error{
		"another task's": func() error { return m.Unlearn(2, d.of(3)) },
		"one too few":    func() error { return m.Unlearn(2, fewer) },
		"other classes":  func() error { return m.Unlearn(2, otherClass) },
		"no sums kept":   func() error { return m.Unlearn(2, nil) },
		"no such task":   func() error { return m.Unlearn(9, d.of(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := try(); err == nil {
				t.Error("no error")
			}
			if got := hash(t, m, d); got != want {
				t.Error("the sums have changed")
			}
		})
	}
}

// TestUnlearnAll: a model without tasks is a new one, which takes samples of another length.
func TestUnlearnAll(t *testing.T) {
	d := draw(100, 20)
	m := New(LDA{}, false)
	add(t, m, d, rand.New(rand.NewPCG(1, 1)).Perm(len(d.x)))
	for task := 1; task <= 5; task++ {
		must.Do(t, m.Unlearn(task, d.of(task)))
	}
	fresh := must.Get(json.Marshal(New(LDA{}, false)))(t)
	if got := must.Get(json.Marshal(m))(t); !slices.Equal(got, fresh) {
		t.Errorf("%s, want %s", got, fresh)
	}
	if w, current, err := m.Latest(); w != nil || !current || err != nil {
		t.Errorf("weights %v, %v, %v of nothing", w, current, err)
	}
	must.Do(t, m.Add(1, 1, []float32{0.1, 0.2}))
}

// TestLatest: predictions use the last weights while new ones are made, and say how many samples
// these have seen.
func TestLatest(t *testing.T) {
	d := draw(500, 30)
	m := New(LDA{}, false)
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(d.x))
	add(t, m, d, order[:200])
	w, current, err := m.Latest()
	if err != nil || !current || w.Seen() != 200 {
		t.Fatalf("the first weights have seen %d samples, current %v, %v", w.Seen(), current, err)
	}
	add(t, m, d, order[200:])
	w, _, err = m.Latest()
	if err != nil || w.Seen() != 200 && w.Seen() != 500 {
		t.Fatalf("the next weights have seen %d samples, %v", w.Seen(), err)
	}
	if w := must.Get(m.Weights())(t); w.Seen() != 500 || m.Seen() != 500 {
		t.Errorf("the last weights have seen %d samples", w.Seen())
	}
}

// TestExactSums compares with sums in whole numbers.
func TestExactSums(t *testing.T) {
	d := draw(1000, 33)
	m := New(LDA{}, false)
	add(t, m, d, rand.New(rand.NewPCG(1, 1)).Perm(len(d.x)))
	must.Get(json.Marshal(m))(t)
	want := make([]int64, 33*33)
	q := make([]uint8, 33)
	for _, x := range d.x {
		must.Do(t, Quantise(x, q))
		for i := range q {
			for j := range q {
				want[33*i+j] += int64(q[i]) * int64(q[j])
			}
		}
	}
	for i := range 33 {
		for j, v := range m.all.gram.row(i, i, 33) {
			if int64(v) != want[33*i+i+j] {
				t.Fatalf("entry %d, %d is %g, want %d", i, i+j, v, want[33*i+i+j])
			}
		}
	}
}

// TestLearns: the heads tell classes apart, LDA best where features go together.
func TestLearns(t *testing.T) {
	d := draw(1200, 60)
	eachHead(t, func(t *testing.T, head func() Head) {
		m := New(head(), false)
		for i := range 800 {
			must.Do(t, m.Add(1, d.class[i], d.x[i]))
		}
		w, right := must.Get(m.Weights())(t), 0
		for i := 800; i < 1200; i++ {
			scores := must.Get(w.ScoreInputs(d.x[i], []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))(t)[0]
			if slices.Index(scores, slices.Max(scores)) == d.class[i] {
				right++
			}
		}
		if right < 360 {
			t.Errorf("%d of 400 right", right)
		}
	})
}

// TestSingleSamples: weights exist from the first sample on.
func TestSingleSamples(t *testing.T) {
	eachHead(t, func(t *testing.T, head func() Head) {
		m := New(head(), false)
		for c, x := range [][]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0.5}} {
			must.Do(t, m.Add(1, c, x))
			scores := must.Get(must.Get(m.Weights())(t).ScoreInputs(x, []int{0, 1, 2}))(t)[0]
			for k, s := range scores {
				if math.IsNaN(s) || (k > c) != math.IsInf(s, -1) {
					t.Errorf("after class %d the scores are %v", c, scores)
				}
			}
		}
	})
}

func TestQuantise(t *testing.T) {
	for name, c := range map[string]struct {
		x    []float32
		want []uint8
	}{
		"bytes":      {[]float32{float32(17) / 255, 1, 0}, []uint8{17, 255, 0}},
		"length 1":   {[]float32{0.1, 0.0995, float32(math.Sqrt(1 - 0.01 - 0.0995*0.0995))}, []uint8{102, 101, 255}},
		"other unit": {[]float32{10, 9.95, 98.9}, []uint8{102, 102, 255}},
		"nothing":    {[]float32{0, 0}, []uint8{0, 0}},
		"large":      {[]float32{3e38, 3e38}, []uint8{255, 255}},
		"denormal":   {[]float32{1e-45, 0}, []uint8{255, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			q := make([]uint8, len(c.x))
			if err := Quantise(c.x, q); err != nil || !slices.Equal(q, c.want) {
				t.Errorf("%v, %v, want %v", q, err, c.want)
			}
		})
	}
	for name, x := range map[string][]float32{
		"negative": {0.5, -0.1}, "nan": {float32(math.NaN())}, "infinite": {float32(math.Inf(1))},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Quantise(x, make([]uint8, len(x))); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestDamaged: a state that is not whole is refused, and nothing changes.
func TestDamaged(t *testing.T) {
	d := draw(50, 6)
	m := New(LDA{}, false)
	add(t, m, d, rand.New(rand.NewPCG(1, 1)).Perm(len(d.x)))
	text := must.Get(json.Marshal(m))(t)
	change := func(f func(s *savedModel)) []byte {
		var s savedModel
		must.Do(t, json.Unmarshal(text, &s))
		f(&s)
		return must.Get(json.Marshal(s))(t)
	}
	for name, damaged := range map[string][]byte{
		"features":     change(func(s *savedModel) { s.Features = 7 }),
		"no features":  change(func(s *savedModel) { s.Features = 0 }),
		"cut off":      change(func(s *savedModel) { s.Sums.Gram = s.Sums.Gram[:20] }),
		"longer":       change(func(s *savedModel) { s.Sums.Gram = append(s.Sums.Gram, 1) }),
		"a count":      change(func(s *savedModel) { s.Sums.Classes[0].N++ }),
		"a class":      change(func(s *savedModel) { s.Sums.Classes = s.Sums.Classes[1:] }),
		"a task twice": change(func(s *savedModel) { s.Tasks = append(s.Tasks, s.Tasks[0]) }),
		"a task less":  change(func(s *savedModel) { s.Tasks = s.Tasks[1:] }),
		"negative":     change(func(s *savedModel) { s.Tasks[0].Counts[0] = -1 }),
		"kept sums":    change(func(s *savedModel) { s.Tasks[0].Sums = &s.Sums }),
	} {
		t.Run(name, func(t *testing.T) {
			if err := json.Unmarshal(damaged, m); err == nil {
				t.Error("no error")
			}
			if got := must.Get(json.Marshal(m))(t); !slices.Equal(got, text) {
				t.Error("the model has changed")
			}
		})
	}
}

func BenchmarkLDA(b *testing.B) {
	d := draw(512, 1280)
	for b.Loop() {
		m := New(LDA{}, false)
		for i, x := range d.x {
			must.Do(b, m.Add(1, d.class[i], x))
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	d := draw(2048, 1280)
	m := New(LDA{}, false)
	for i, x := range d.x {
		must.Do(b, m.Add(1, d.class[i], x))
	}
	for b.Loop() {
		m.version++
		must.Get(m.Weights())(b)
	}
}

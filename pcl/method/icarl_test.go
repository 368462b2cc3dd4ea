package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestICaRLKeepsTheBest: the store holds the first of the ranking, and of those the first when it must
// shrink; the model is copied when a task is over.
func TestICaRLKeepsTheBest(t *testing.T) {
	l := newLinearLab(t, build(t, "icarl", values{"pool": 30}), memory.Config{Policy: memory.FixedTotal, Budget: 12})
	task := l.attach(30, 0, 1)
	var ranked [2][]memory.Item
	for c := range ranked {
		var own []memory.Item
		var features [][]float64
		for _, it := range task.data {
			if it.Class == c {
				f := wide(it.Pixels)
				scaled([][]float64{f}, 1/math.Sqrt(inner(f, f)))
				own, features = append(own, it), append(features, f)
			}
		}
		for _, i := range herded(features, 6) {
			ranked[c] = append(ranked[c], own[i])
		}
	}
	check := func(n int) {
		t.Helper()
		for c := range ranked {
			for k, it := range ranked[c][:n] {
				if got := l.store.Item(c*n + k); got.Class != c || !slices.Equal(got.Pixels, it.Pixels) {
					t.Errorf("place %d of class %d with %d places is not the ranking's", k, c, n)
				}
			}
		}
	}
	for len(l.Running()) > 0 {
		l.step(t)
	}
	check(6)
	if !slices.Equal(l.at[rehearsal.Remembered], l.at[rehearsal.Now]) || !slices.Equal(l.overThen, []int{1}) {
		t.Error("the model at the end of the task was not remembered")
	}
	l.attach(30, 2, 3)
	for len(l.Running()) > 0 {
		l.step(t)
	}
	check(3)
	if !slices.Equal(l.overThen, []int{1, 2}) {
		t.Errorf("remembered after tasks %v", l.overThen)
	}
}

// TestICaRLLoss: the first task has plain binary cross-entropy; later the outputs of finished tasks are
// held where they were.
func TestICaRLLoss(t *testing.T) {
	l := newLinearLab(t, build(t, "icarl", nil), perClass)
	l.byTask = true // all seen outputs are trained nevertheless
	l.attach(4, 0, 1)
	it := l.tasks[0].data[0]
	bce := func(outputs ...int) (sum float64) {
		for _, o := range outputs {
			p := 1 / (1 + math.Exp(-l.scores(l.at[rehearsal.Now], it.Pixels, rehearsal.Loss{})[o]))
			if o != it.Class {
				p = 1 - p
			}
			sum -= math.Log(p)
		}
		return sum
	}
	if got, want := l.loss(l.at[rehearsal.Now], it, l.lossOf(1)), bce(0, 1); math.Abs(got-want) > 1e-12 {
		t.Errorf("first task: loss %g, want %g", got, want)
	}
	l.step(t)
	l.attach(4, 2, 3)
	it = l.tasks[1].data[0]
	g := l.slope(l.at[rehearsal.Now], it, l.lossOf(Memory))
	if math.Abs(g[0]) > 1e-12 || math.Abs(g[1]) > 1e-12 || math.Abs(g[2]) < 1e-3 {
		t.Errorf("right after a task the slopes are %v, want 0 on its outputs", g)
	}
}

// TestICaRLPredictsByTheNearestExemplar: with one exemplar per class it is 1-NN, among the classes that
// compete.
func TestICaRLPredictsByTheNearestExemplar(t *testing.T) {
	l := newLinearLab(t, build(t, "icarl", values{"pool": 8}), memory.Config{Policy: memory.PerClass, Budget: 1}).oneByOne(t)
	m := role[rehearsal.Predictor](t, l.method)
	var samples []memory.Item
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 200 {
		it := memory.Item{Task: 1 + i%3, Pixels: make([]float32, l.inputs)}
		for p := range it.Pixels {
			it.Pixels[p] = r.Float32()
		}
		samples = append(samples, it)
	}
	must(t, m.Prepare(l))
	for _, byTask := range []bool{false, true} {
		l.byTask = byTask
		got, err := m.Predict(l, samples)
		must(t, err)
		for k, it := range samples {
			best, most := -1, -2.0
			for i := range l.store.Len() {
				other := l.store.Item(i)
				if c := cosine(wide(it.Pixels), wide(other.Pixels)); c > most && slices.Contains(l.Competing(it.Task), other.Class) {
					best, most = other.Class, c
				}
			}
			if got[k] != best {
				t.Fatalf("by task: %v: class %d, the nearest exemplar has %d", byTask, got[k], best)
			}
		}
	}
}

// TestICaRLBeforeTheEnd: running tasks are represented by their candidates, and before there are any by
// the logits.
func TestICaRLBeforeTheEnd(t *testing.T) {
	l := newLinearLab(t, build(t, "icarl", nil), perClass)
	m, pool := role[rehearsal.Predictor](t, l.method), role[rehearsal.Curator](t, l.method)
	samples := slices.Clone(l.attach(20, 0, 1).data)
	must(t, m.Prepare(l))
	got, err := m.Predict(l, samples)
	must(t, err)
	want, err := l.Predict(rehearsal.Now, samples)
	must(t, err)
	if !slices.Equal(got, want) {
		t.Error("without any samples it does not predict by the logits")
	}
	l.step(t)
	must(t, m.Prepare(l))
	var means [2][]float64
	for c := range means {
		means[c] = make([]float64, l.inputs)
		for _, it := range l.Candidates(1) {
			if f := wide(it.Pixels); it.Class == c {
				add(means[c], 1/math.Sqrt(inner(f, f)), f)
			}
		}
	}
	got, err = m.Predict(l, samples)
	must(t, err)
	for k, it := range samples {
		if x := wide(it.Pixels); got[k] > 1 || cosine(x, means[got[k]]) < cosine(x, means[1-got[k]]) {
			t.Errorf("sample %d is said to be of class %d, whose candidates have the farther mean", k, got[k])
		}
	}
	if len(l.Candidates(1)) == 0 || inner(means[0], means[0]) == 0 || inner(means[1], means[1]) == 0 {
		t.Errorf("%d candidates do not stand for both classes", len(l.Candidates(1)))
	}
	if pool.Pool(6) != 500 || pool.Pool(700) != 700 || pool.Pool(0) != 0 {
		t.Errorf("pools of %d, %d, %d; want 500, 700, 0", pool.Pool(6), pool.Pool(700), pool.Pool(0))
	}
}

func cosine(a, b []float64) float64 { return inner(a, b) / math.Sqrt(inner(a, a)*inner(b, b)) }

// herded tries all to find each next sample whose mean with those chosen is nearest to the mean of all.
func herded(features [][]float64, n int) (chosen []int) {
	mean, sum := make([]float64, len(features[0])), make([]float64, len(features[0]))
	for _, f := range features {
		add(mean, 1/float64(len(features)), f)
	}
	for k := 1; k <= n; k++ {
		best, least := -1, math.Inf(1)
		for i, f := range features {
			d := slices.Clone(mean)
			add(d, -1/float64(k), sum)
			add(d, -1/float64(k), f)
			if off := inner(d, d); off < least && !slices.Contains(chosen, i) {
				best, least = i, off
			}
		}
		chosen = append(chosen, best)
		add(sum, 1, features[best])
	}
	return chosen
}

package pcl

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

var analyticMethods = []string{"simplecil", "lda", "ranpac"}

// analyticLearner is a small learner with a method that learns from sums.
func analyticLearner(t *testing.T, b *backend.Backend, name string, o Options, keep bool) *Learner {
	t.Helper()
	values := map[string]any{"keep": keep}
	if name == "ranpac" {
		values["m"] = 100.0
	}
	o.Method = newMethod(t, name, values)
	return smallLearner(t, b, "", o)
}

// predictions are the bits of what a learner predicts for all test samples.
func predictions(t *testing.T, l *Learner, d *datasets.Dataset, among ...int) string {
	t.Helper()
	x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3, 4, 5), 64)
	text := ""
	for _, p := range must.Get(l.Predict(x, among...))(t) {
		text += fmt.Sprint(p.Class)
		for _, v := range p.Probabilities {
			text += fmt.Sprintf(" %x", math.Float64bits(v))
		}
	}
	return text
}

// TestAnalyticStreams: however samples are divided into streams, batches and epochs, on any number
// of cores, with a restart in between, what is learnt has the same bits, and it is good.
func TestAnalyticStreams(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 60, 20)
	for _, name := range analyticMethods {
		t.Run(name, func(t *testing.T) {
			want := ""
			for i, c := range []struct {
				batch, epochs, cores int
				apart, restart       bool
			}{{8, 1, 1, false, false}, {5, 1, 2, true, false}, {8, 3, 2, true, true}, {13, 2, 1, false, true}} {
				runtime.GOMAXPROCS(c.cores)
				o := Options{Increment: "class", Batch: c.batch}
				l := analyticLearner(t, b, name, o, false)
				task := func(id int) (Task, error) {
					train := d.Select(&d.Train, 0, 2*id-2, 2*id-1)
					s := must.Get(data.NewStream(train, c.epochs, uint64(i), id))(t)
					return Task{Classes: []int{2*id - 2, 2*id - 1}, Stream: s, Test: d.Select(&d.Test, 0, 2*id-2, 2*id-1)}, nil
				}
				for id := 1; id <= 3; id++ {
					attach(t, l, must.Get(task(id))(t))
					if c.apart {
						steps(t, l, 3)
					}
				}
				if c.restart {
					path := filepath.Join(t.TempDir(), "state")
					must.Do(t, l.Save(path))
					l = analyticLearner(t, b, name, o, false)
					must.Do(t, l.Load(path, task))
				}
				playOut(t, l)
				got := string(must.Get(l.method.Stateful.MarshalState())(t)) + predictions(t, l, d)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%+v: other bits", c)
				}
				for id := 1; id <= 3; id++ {
					if acc := must.Get(l.Evaluate(id))(t); acc < 0.9 {
						t.Errorf("task %d: accuracy %.2f", id, acc)
					}
				}
			}
		})
	}
}

// TestUnlearn: each task in turn, from its samples and from kept sums; the learner then has the
// bits of one that never saw the task.
func TestUnlearn(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 30, 5)
	for _, name := range analyticMethods {
		for gone := 1; gone <= 3; gone++ {
			for _, keep := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%v", name, gone, keep), func(t *testing.T) {
					all := analyticLearner(t, b, name, Options{Increment: "class"}, keep)
					never := analyticLearner(t, b, name, Options{Increment: "class"}, keep)
					var others []int
					for id := 1; id <= 3; id++ {
						attach(t, all, must.Get(pairs(t, d)(id))(t))
						if id == gone {
							must.Do(t, never.SkipIDs(id))
							continue
						}
						attach(t, never, must.Get(pairs(t, d)(id))(t))
						others = append(others, 2*id-2, 2*id-1)
					}
					playOut(t, all)
					playOut(t, never)
					predictions(t, all, d) // so that there are weights that have to go
					var samples data.Samples = d.Select(&d.Train, 0, 2*gone-1, 2*gone-2)
					if keep {
						samples = nil
					}
					must.Do(t, all.Unlearn(gone, samples))
					if got, want := must.Get(all.method.Stateful.MarshalState())(t),
						must.Get(never.method.Stateful.MarshalState())(t); !slices.Equal(got, want) {
						t.Error("the sums have other bits")
					}
					if got, want := predictions(t, all, d, others...), predictions(t, never, d, others...); got != want {
						t.Error("predictions have other bits")
					}
					x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3, 4, 5), 64)
					for _, p := range must.Get(all.Predict(x))(t) {
						if !slices.Contains(others, p.Class) {
							t.Fatalf("class %d is predicted", p.Class)
						}
					}
					if err := all.Unlearn(gone, samples); err == nil {
						t.Error("it was unlearnt twice")
					}
				})
			}
		}
	}
}

// TestUnlearnRefuses: a running task, samples of another one, a method of gradients.
func TestUnlearnRefuses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 30, 5)
	for name, c := range map[string]struct {
		method  string
		play    bool
		task    int
		classes []int
		want    string
	}{
		"running":       {"lda", false, 1, []int{0, 1}, "has not ended"},
		"other samples": {"lda", true, 1, []int{0, 2}, "are not the 60 that task 1 has added"},
		"no such task":  {"lda", true, 7, []int{0, 1}, "there is no task 7"},
		"gradients":     {"emgd", true, 1, []int{0, 1}, "learns by gradients"},
	} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, b, c.method, Options{Increment: "class"})
			attach(t, l, must.Get(pairs(t, d)(1))(t))
			if c.play {
				playOut(t, l)
			}
			expect.Refusal(t, "Unlearn", l.Unlearn(c.task, d.Select(&d.Train, 0, c.classes...)), c.want)
		})
	}
}

// TestNegativeFeatures: a sample that a method cannot take is an error of its stream, and the
// learner goes on.
func TestNegativeFeatures(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 30, 5)
	l := smallLearner(t, b, "lda", Options{Increment: "class"})
	push := must.Get(data.NewPushStream(64, 100, []int{0, 1}))(t)
	good := make([]float32, 64)
	must.Get(push.Push(t.Context(), good, 0))(t)
	attach(t, l, Task{Classes: []int{0, 1}, Stream: push})
	bad := make([]float32, 64)
	bad[3] = -0.5
	must.Get(push.Push(t.Context(), bad, 1))(t)
	push.End()
	attach(t, l, must.Get(pairs(t, d)(2))(t))
	failed := 0
	for range 100 {
		if _, err := l.Step(); err != nil && strings.Contains(err.Error(), "feature 3 is -0.5") {
			failed++
		}
	}
	if acc := must.Get(l.Evaluate(2))(t); failed != 1 || acc < 0.9 {
		t.Errorf("%d steps failed; accuracy %.2f of the other task", failed, acc)
	}
}

// TestSeen: a predictor says how many samples it predicts from.
func TestSeen(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 30, 5)
	l := smallLearner(t, b, "lda", Options{Increment: "class"})
	attach(t, l, must.Get(pairs(t, d)(1))(t))
	steps(t, l, 2)
	p := must.Get(l.Snapshot())(t)
	if n, all := p.Seen(); n != 16 || !all {
		t.Errorf("the first predictor is made from %d samples, all %v; want 16", n, all)
	}
	playOut(t, l)
	q := must.Get(l.Snapshot())(t)
	if n, all := q.Seen(); n != 60 || !all {
		t.Errorf("the last predictor is made from %d samples, all %v; want 60", n, all)
	}
	if n, all := p.Seen(); n != 16 || !all {
		t.Errorf("the first predictor has changed: %d, %v", n, all)
	}
}

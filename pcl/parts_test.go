package pcl

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// This file holds what the tests of the parts of a rehearsal share, and what every part must keep
// to.

// timeline trains three tasks that overlap, with everything that a part may come to see: a memory
// that grows while tasks run, and an end of a task alone. After each step it calls look, if that is
// set.
func timeline(t *testing.T, l *Learner, look func(r *StepReport)) {
	t.Helper()
	d := pcltest.Blobs(6, 24, 5)
	for step := 0; ; step++ {
		if step%4 == 0 && step < 12 {
			id := step/4 + 1
			attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
		}
		r, err := l.Step()
		if errors.Is(err, ErrNoStream) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if look != nil {
			look(r)
		}
	}
}

// trajectory returns the parameters after each step of the timeline.
func trajectory(t *testing.T, b *backend.Backend, name string, params map[string]any, o Options) (thetas [][]float32) {
	t.Helper()
	o.Method = newMethod(t, name, params)
	l := smallLearner(t, b, "", o)
	defer l.Close()
	timeline(t, l, func(*StepReport) { thetas = append(thetas, must.Get(l.network.parameters())(t)) })
	return thetas
}

// TestPartsThatDoNothing: a part changes no bit of a run as long as it has nothing to do, which is
// until the first end of a task, or all the time where its weight is 0; then it does.
func TestPartsThatDoNothing(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	const always, firstEnd, secondArrival = 1000, 6, 4 // steps
	class, task := "class", "task"
	for _, c := range []struct {
		rule, with string
		params     map[string]any
		increment  string
		edit       Edit
		until      int // may differ from this step on, must after it
		rounding   float32
	}{
		{"avggrad", "avggrad+ewc", map[string]any{"lambda": 0}, class, Edit{}, always, 0},
		{"avggrad", "avggrad+ewc", map[string]any{"lambda": 1e3}, class, Edit{}, firstEnd, 0},
		{"emgd-gmc", "emgd-gmc+si", map[string]any{"c": 0}, class, Edit{}, always, 0},
		{"emgd-gmc", "emgd-gmc+si", map[string]any{"c": 1e3}, class, Edit{}, firstEnd, 0},
		{"avggrad", "avggrad+lwf", map[string]any{"weight": 0}, class, Edit{}, always, 0},
		{"avggrad", "avggrad+lwf", nil, class, Edit{}, firstEnd, 0},
		{"avggrad", "avggrad+lwf", nil, task, Edit{}, firstEnd, 0},
		{"avggrad", "avggrad+las", map[string]any{"tau": 0}, class, Edit{}, always, 0},
		{"avggrad", "avggrad+las", nil, class, Edit{}, 9, 1e-5}, // while all classes are equally frequent
		{"emgd-gmc", "emgd-gmc+er-ace", nil, task, Edit{}, always, 0},
		{"avggrad", "avggrad+er-ace", nil, class, Edit{}, secondArrival, 0},
		{"emgd-gmc+der-pp", "emgd-gmc+der-pp+x-der", nil, class, Edit{}, 10, 0}, // when outputs are new as a task ends
		{"emgd-gmc", "emgd-gmc", nil, class, Edit{Mode: "per_sample", MaxDrift: 0.1, Direction: "literal"}, always, 0},
		{"emgd-gmc", "emgd-gmc", nil, class, Edit{Eta: 0.01}, firstEnd, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			plain := trajectory(t, b, c.rule, nil, Options{Increment: c.increment})
			for step, theta := range trajectory(t, b, c.with, c.params, Options{Increment: c.increment, Edit: c.edit}) {
				same := slices.EqualFunc(theta, plain[step], func(x, y float32) bool { return max(x-y, y-x) <= c.rounding })
				if step != c.until && same != (step < c.until) {
					t.Errorf("%s %v %+v, %s-incremental, step %d: equal to %s: %t",
						c.with, c.params, c.edit, c.increment, step, c.rule, same)
				}
			}
		})
	}
}

// atTheEnd returns the parameters at the end of the timeline.
func atTheEnd(t *testing.T, b *backend.Backend, name string, params map[string]any, o Options) []float32 {
	t.Helper()
	o.Method = newMethod(t, name, params)
	l := smallLearner(t, b, "", o)
	defer l.Close()
	timeline(t, l, nil)
	return must.Get(l.Parameters())(t)
}

// compositions are the parts that are not published methods of their own, each with a rule.
var compositions = []string{
	"avggrad+er-ace", "emgd-gmc+der-pp+x-der", "avggrad+refresh+der-pp",
	"mgda+der-pp+balanced+herding+ncm", "avggrad+lwf", "emgd-gmc+er-ace+lwf+der-pp", "avggrad+ewc",
	"emgd-gmc+ewc+der-pp+gss", "moco+ewc", "famo+si", "graddrop+si+er-ace", "mega-1+si+herding",
	"avggrad+las", "emgd-gmc+las+der-pp", "upgrad+mir", "emgd-gmc+icarl", "emgd-gmc+per-task",
	"famo+der-pp", "graddrop+der-pp",
}

// TestPartsResume: a run that is saved after any step, and taken up by another learner, ends with
// the same bits.
func TestPartsResume(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range compositions {
		t.Run(name, func(t *testing.T) { resumes(t, b, name) })
	}
}

func resumes(t *testing.T, b *backend.Backend, name string) {
	d := pcltest.Blobs(6, 24, 5)
	task := pairs(t, d)
	made := func() *Learner {
		return smallLearner(t, b, name, Options{Increment: "class", Optimizer: optim.Adam{LR: 0.01, WeightDecay: 0.1},
			Edit: Edit{Eta: 0.01}})
	}
	path := filepath.Join(t.TempDir(), "learner.pcl")
	l, whole := made(), made()
	timeline(t, whole, nil)
	for step := 0; ; step++ {
		if step%4 == 0 && step < 12 {
			next, _ := task(step/4 + 1)
			attach(t, l, next)
		}
		must.Do(t, l.Save(path))
		l.Close()
		l = made()
		must.Do(t, l.Load(path, task))
		if _, err := l.Step(); errors.Is(err, ErrNoStream) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	got, want := must.Get(l.State())(t), must.Get(whole.State())(t)
	if string(got.JSON) != string(want.JSON) {
		t.Errorf("a resumed run ends as\n%.400s\nan uninterrupted one as\n%.400s", got.JSON, want.JSON)
	}
	for name := range want.Arrays {
		if !slices.Equal(got.Arrays[name], want.Arrays[name]) {
			t.Errorf("a resumed run ends with another array %q", name)
		}
	}
}

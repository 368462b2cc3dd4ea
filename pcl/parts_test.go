package pcl

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// This file holds what the tests of the parts of a rehearsal share, and what every part must keep to.

// timeline trains three tasks that overlap, with everything that a part may come to see: a memory that grows while
// tasks run, and an end of a task alone. After each step it calls look, if that is set.
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

// atTheEnd returns the parameters at the end of the timeline.
func atTheEnd(t *testing.T, b *backend.Backend, name string, params map[string]any, o Options) []float32 {
	t.Helper()
	o.Method = newMethod(t, name, params)
	l := smallLearner(t, b, "", o)
	defer l.Close()
	timeline(t, l, nil)
	return must[[]float32](t)(l.Parameters())
}

// compositions are the parts that are not published methods of their own, each with a rule.
var compositions = []string{
	"avggrad+er-ace", "emgd-gmc+der-pp+x-der", "avggrad+refresh+der-pp", "mgda+der-pp+balanced+herding+ncm", "avggrad+lwf",
	"emgd-gmc+er-ace+lwf+der-pp", "avggrad+ewc", "emgd-gmc+ewc+der-pp+gss", "moco+ewc", "famo+si", "graddrop+si+er-ace", "mega-1+si+herding",
	"avggrad+las", "emgd-gmc+las+der-pp", "upgrad+mir", "emgd-gmc+icarl", "emgd-gmc+per-task", "famo+der-pp", "graddrop+der-pp",
}

// TestPartsResume: a run that is saved after any step, and taken up by another learner, ends with the same bits.
func TestPartsResume(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range compositions {
		t.Run(name, func(t *testing.T) { resumes(t, b, name) })
	}
}

func resumes(t *testing.T, b *backend.Backend, name string) {
	d := pcltest.Blobs(6, 24, 5)
	task := func(id int) (Task, error) { return blobTask(t, d, id, 2*id-2, 2*id-1), nil }
	made := func() *Learner {
		return smallLearner(t, b, name, Options{Increment: scenario.ClassIncremental, Edit: Edit{Eta: 0.01}})
	}
	path := filepath.Join(t.TempDir(), "learner.pcl")
	l, whole := made(), made()
	timeline(t, whole, nil)
	for step := 0; ; step++ {
		if step%4 == 0 && step < 12 {
			next, _ := task(step/4 + 1)
			attach(t, l, next)
		}
		if err := l.Save(path); err != nil {
			t.Fatal(err)
		}
		l.Close()
		l = made()
		if err := l.Load(path, task); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Step(); errors.Is(err, ErrNoStream) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	got, want := must[State](t)(l.State()), must[State](t)(whole.State())
	if string(got.JSON) != string(want.JSON) {
		t.Errorf("a resumed run ends as\n%.400s\nan uninterrupted one as\n%.400s", got.JSON, want.JSON)
	}
	for name := range want.Arrays {
		if !slices.Equal(got.Arrays[name], want.Arrays[name]) {
			t.Errorf("a resumed run ends with another array %q", name)
		}
	}
}

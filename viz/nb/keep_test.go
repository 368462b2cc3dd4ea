package nb

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

func TestKeep(t *testing.T) {
	t.Chdir(t.TempDir())
	made := 0
	ask := func() (map[string][]float64, error) {
		return Keep("table", func() (map[string][]float64, error) {
			made++
			return map[string][]float64{"a": {1, 2}}, nil
		})
	}
	for i := range 2 {
		if v, err := ask(); err != nil || !reflect.DeepEqual(v, map[string][]float64{"a": {1, 2}}) || made != 1 {
			t.Errorf("time %d: %v, %v; made %d times", i+1, v, err, made)
		}
	}
	if err := Forget("table", "never"); err != nil {
		t.Error(err)
	}
	if _, err := ask(); err != nil || made != 2 {
		t.Errorf("forgotten: %v, made %d times", err, made)
	}
	if v, err := Keep("table", func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("as another type: %v, %v", v, err)
	}
	paths, err := keptPaths("table")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	if err := os.WriteFile(paths[0], []byte("half a fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := Keep("table", func() (int, error) { return 8, nil }); v != 8 || err != nil {
		t.Errorf("a damaged file: %v, %v", v, err)
	}
	if err := Forget(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(keptDir); err == nil {
		t.Error("not all was forgotten")
	}
}

func TestNothingIsKeptOfAnError(t *testing.T) {
	t.Chdir(t.TempDir())
	stopped := errors.New("stopped")
	if _, err := Keep("x", func() (int, error) { return 1, stopped }); !errors.Is(err, stopped) {
		t.Error(err)
	}
	if v, err := Keep("x", func() (int, error) { return 2, nil }); v != 2 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b"} { // refused before anything is computed
		if _, err := Keep(name, func() (int, error) { t.Errorf("%q: computed", name); return 0, nil }); err == nil {
			t.Errorf("kept as %q", name)
		}
	}
}

// A learner goes on from what was kept as if it had never stopped.
func TestKeepLearner(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := t.Context()
	c := experiment.DefaultConfig("glyphs")
	c.TrainPerClass, c.Hidden = 64, []int{4}
	g := experiment.New("glyphs", experiment.Options{Dir: t.TempDir(), Backend: backend.Go})
	t.Cleanup(func() { g.Close() })
	task := func(id int) (pcl.Task, error) { return g.Task(ctx, c, id, 0, 1) }
	steps := func(l *pcl.Learner, n int) string {
		t.Helper()
		for range n {
			if _, err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "l.pcl")
		if err := l.Save(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	train := func() (*pcl.Learner, error) {
		l, err := g.Learner(ctx, c)
		if err != nil {
			return nil, err
		}
		first, err := task(1)
		if err != nil {
			return nil, err
		}
		if _, err := l.Attach(first); err != nil {
			return nil, err
		}
		steps(l, 2)
		return l, nil
	}
	load := func(path string) (*pcl.Learner, error) {
		l, err := g.Learner(ctx, c)
		if err != nil {
			return nil, err
		}
		return l, l.Load(path, task)
	}
	trained, err := KeepSaved("trained", load, train)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := KeepSaved("trained", load, func() (*pcl.Learner, error) { return nil, errors.New("it was not kept") })
	if err != nil {
		t.Fatal(err)
	}
	if steps(trained, 2) != steps(kept, 2) {
		t.Error("two steps later the kept learner is another one")
	}
}

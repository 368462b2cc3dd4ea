package kernelhost

import (
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// own is a stream of a user's.
type own struct{ data.Stream }

// TestHandover: a session's learner is made again as it was, once for all variables that share it.
// A learner that cannot be made again is refused with the reason, and other values are left to the
// host.
func TestHandover(t *testing.T) {
	experiment.KeepRecipes()
	var m module
	dir := t.TempDir()
	s := experiment.New("glyphs", experiment.Options{Backend: backend.Go})
	t.Cleanup(func() { must.Do(t, s.Close()) })
	c := experiment.DefaultConfig("glyphs")
	c.Batch, c.TrainPerClass, c.Hidden = 4, 8, []int{8}
	l := must.Get(s.Learner(t.Context(), c))(t)
	defer l.Close()
	must.Get(l.Attach(must.Get(s.Task(t.Context(), c, 1, 0, 1))(t)))(t)
	must.Get(l.Step())(t)

	made := must.Get(m.Save(dir, l))(t)
	restore := m.Restorer(dir)
	again := must.Get(restore(made))(t).(*pcl.Learner)
	defer again.Close()
	t.Run("a learner has its parameters", func(t *testing.T) {
		if a, b := must.Get(l.Parameters())(t), must.Get(again.Parameters())(t); !slices.Equal(a, b) || again.Steps() != 1 {
			t.Errorf("other parameters after %d steps; want the same after 1", again.Steps())
		}
	})
	t.Run("another variable shares it", func(t *testing.T) {
		if other := must.Get(restore(must.Get(m.Save(dir, l))(t)))(t); other != any(again) {
			t.Error("it is another learner")
		}
	})
	t.Run("a value of a cell is the host's", func(t *testing.T) {
		switch made, err := m.Save(dir, []int{1}); {
		case made != nil:
			t.Errorf("made is %q; want nil", made)
		case err != nil:
			t.Error(err)
		case m.Precious([]int{1}):
			t.Errorf("saved as %q, error %v", made, err)
		}
	})
	t.Run("a stream of the user's own", func(t *testing.T) {
		task := must.Get(s.Task(t.Context(), c, 2, 2))(t)
		task.Stream = own{task.Stream}
		must.Get(l.Attach(task))(t)
		_, err := m.Save(dir, l)
		switch {
		case err == nil:
			t.Error("no error")
		case !strings.Contains(err.Error(), "the stream of task 2"):
			t.Errorf("error %v; want one that names task 2", err)
		case !m.Precious(l):
			t.Error("m.Precious(l) is false")
		}
	})
}

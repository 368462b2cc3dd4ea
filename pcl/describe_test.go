package pcl

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// halves are features for tests: each two values of a sample become one feature.
type halves struct {
	forgotten []float32
	fail      bool
}

func (*halves) Inputs() int { return 64 }
func (*halves) Width() int  { return 32 }

func (h *halves) Of(x []float32) (out []float32, err error) {
	for i := 0; i < len(x); i += 2 {
		out = append(out, x[i]+x[i+1])
	}
	return out, nil
}

func (h *halves) Forget(x []float32) error {
	if h.forgotten = x; h.fail {
		return errors.New("no room")
	}
	return nil
}

// halved are samples as features.
type halved struct{ data.Samples }

func (h halved) Sample(i int, x []float32) int {
	whole := make([]float32, 64)
	c := h.Samples.Sample(i, whole)
	out, _ := new(halves).Of(whole)
	copy(x, out)
	return c
}

// TestOptionsFeatures: a learner with features learns and predicts, from samples, what one without
// does from their features, by gradients and by sums, also after it was saved and loaded.
func TestOptionsFeatures(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 30, 5)
	for _, name := range []string{"emgd", "lda"} {
		t.Run(name, func(t *testing.T) {
			learner := func(f Features) *Learner {
				o := Options{
					Backend: b, Model: must.Get(NewMLP(32, []int{8}, 12))(t), Method: newMethod(t, name, nil), Features: f, Batch: 8,
				}
				l := must.Get(New(t.Context(), o))(t)
				t.Cleanup(l.Close)
				return l
			}
			task := func(as func(data.Samples) data.Samples) func(id int) (Task, error) {
				return func(id int) (Task, error) {
					classes := []int{2*id - 2, 2*id - 1}
					train := as(d.Select(&d.Train, 0, classes...))
					return Task{
						Classes: classes, Stream: must.Get(data.NewStream(train, 1, 7, id))(t),
						Test: as(d.Select(&d.Test, 0, classes...)),
					}, nil
				}
			}
			whole := task(func(s data.Samples) data.Samples { return s })
			inHalves := task(func(s data.Samples) data.Samples { return halved{s} })
			with, without := learner(new(halves)), learner(nil)
			for id := range 3 {
				attach(t, with, must.Get(whole(id+1))(t))
				attach(t, without, must.Get(inHalves(id+1))(t))
			}
			steps(t, with, 2)
			path := filepath.Join(t.TempDir(), "state")
			must.Do(t, with.Save(path))
			with = learner(new(halves))
			must.Do(t, with.Load(path, whole))
			playOut(t, with)
			playOut(t, without)
			for id := 1; id <= 3; id++ {
				if got, want := must.Get(with.Evaluate(id))(t), must.Get(without.Evaluate(id))(t); got != want {
					t.Errorf("task %d: accuracy %v from samples, %v from features", id, got, want)
				}
			}
			x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3, 4, 5), 64)
			features := must.Get(new(halves).Of(x))(t)
			got, want := must.Get(with.Predict(x))(t), must.Get(without.Predict(features))(t)
			for i := range want {
				if got[i].Class != want[i].Class || !slices.Equal(got[i].Probabilities, want[i].Probabilities) {
					t.Fatalf("sample %d: %+v from samples, %+v from features", i, got[i], want[i])
				}
			}
		})
	}
}

// TestUnlearnForgets: the features of an unlearnt task are forgotten, those and no others, and an
// error of that is told.
func TestUnlearnForgets(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 30, 5)
	for name, fail := range map[string]bool{"forgotten": false, "not forgotten": true} {
		t.Run(name, func(t *testing.T) {
			f := &halves{fail: fail}
			l := must.Get(New(t.Context(), Options{
				Backend: b, Model: must.Get(NewMLP(32, []int{8}, 12))(t), Method: newMethod(t, "lda", nil), Features: f,
			}))(t)
			t.Cleanup(l.Close)
			for id := 1; id <= 2; id++ {
				attach(t, l, must.Get(pairs(t, d)(id))(t))
			}
			playOut(t, l)
			if err := l.Unlearn(1, d.Select(&d.Train, 0, 0, 3)); err == nil || f.forgotten != nil {
				t.Errorf("others' samples: %v, forgotten %d values", err, len(f.forgotten))
			}
			samples := d.Select(&d.Train, 0, 0, 1)
			err := l.Unlearn(1, samples)
			if fail != (err != nil && strings.Contains(err.Error(), "task 1 is unlearnt, but")) {
				t.Error(err)
			}
			if want, _ := flat(samples, 64); !slices.Equal(f.forgotten, want) {
				t.Errorf("forgotten %d values, want those of the task's samples", len(f.forgotten))
			}
			if n, _ := must.Get(l.Snapshot())(t).Seen(); n != 60 {
				t.Errorf("%d samples are left, want 60", n)
			}
		})
	}
}

// TestFeaturesRefused: options that do not go together with features.
func TestFeaturesRefused(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for want, o := range map[string]Options{
		"features of 32 values for a model of 64": {Model: must.Get(NewMLP(64, nil, 2))(t)},
		"let the stream augment": {Model: must.Get(NewMLP(32, nil, 2))(t),
			Augment: func(*rand.Rand, []float32) {}},
	} {
		t.Run(want, func(t *testing.T) {
			o.Backend, o.Features = b, new(halves)
			if l, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
				if err == nil {
					l.Close()
				}
			}
		})
	}
}

package pcl

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestAugment: a sample is changed for training and stored as it came; an augmentation that changes
// nothing has the bits of none; and a learner that is loaded goes on with the same draws.
func TestAugment(t *testing.T) {
	run := func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(4, 40, 5)
		var mu sync.Mutex
		changed, seen := 0, map[float32]bool{}
		noise := func(rng *rand.Rand, x []float32) {
			mu.Lock()
			defer mu.Unlock()
			if len(x) != 64 {
				t.Errorf("a sample of %d values", len(x))
			}
			changed++
			seen[x[0]] = true
			for p := range x {
				x[p] += float32(0.2 * rng.NormFloat64())
			}
		}
		task := pairs(t, d)
		train := func(augment func(*rand.Rand, []float32), through string) ([]float32, *Learner) {
			make := func() *Learner { return smallLearner(t, b, "emgd-gmc+der-pp", Options{Augment: augment, Seed: 3}) }
			l := make()
			for id := 1; id <= 2; id++ {
				attach(t, l, must.Get(task(id))(t))
				steps(t, l, 6)
			}
			if through != "" {
				must.Do(t, l.Save(through))
				l = make()
				must.Do(t, l.Load(through, task))
			}
			playOut(t, l)
			return must.Get(l.Parameters())(t), l
		}
		plain, _ := train(nil, "")
		same, _ := train(func(*rand.Rand, []float32) {}, "")
		if !slices.Equal(plain, same) {
			t.Error("an augmentation that changes nothing changes the parameters")
		}
		one, l := train(noise, "")
		for i := range l.Memory().Len() {
			if !slices.Contains(d.Train.Pixels, uint8(l.Memory().Item(i).Pixels[0]*255+.5)) ||
				!seen[l.Memory().Item(i).Pixels[0]] {
				t.Errorf("sample %d was stored after it was changed", i)
			}
		}
		again, _ := train(noise, "")
		resumed, _ := train(noise, filepath.Join(t.TempDir(), "learner.pcl"))
		if changed == 0 || slices.Equal(plain, one) {
			t.Errorf("noise was added %d times, and changes nothing", changed)
		}
		if !slices.Equal(one, again) {
			t.Error("noise changes other things in a second run")
		}
		if !slices.Equal(one, resumed) {
			t.Error("noise changes other things after loading")
		}
	}
	run(t, pcltest.Backend(t, backend.Go))
	run(t, pcltest.Separate(t))
}

func TestAugmentFails(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 5)
	none := func(*rand.Rand, []float32) {}
	refused(t, second(New(t.Context(), completed(t, b, "emgd-gmc", Options{Augment: none, Edit: Edit{Eta: .1}}))),
		"turn editing or augmentation off")
	fails := true
	l := smallLearner(t, b, "emgd-gmc", Options{Augment: func(*rand.Rand, []float32) {
		if fails {
			panic("no film")
		}
	}})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	refused(t, second(l.Step()), "Options.Augment panicked: no film")
	fails = false
	must.Get(l.Step())(t)
}

package pcl

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestFeatures computes the hidden layers again on the host, for test samples of several batches
// and for the memory.
func TestFeatures(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 20, 7)
	l := smallLearner(t, b, "emgd-gmc", Options{})
	task := blobTask(t, d, 1, 0, 1, 2)
	attach(t, l, task)
	for range 8 { // ⌈60/8⌉: to the end
		must.Get(l.Step())(t)
	}
	for name, samples := range map[string]data.Samples{"test": task.Test, "memory": l.Memory().Samples()} {
		t.Run(name, func(t *testing.T) {
			features, class, err := l.Features(samples)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[string]int{"test": 21, "memory": 9}[name]; len(features) != want || len(class) != want {
				t.Fatalf("%d features and %d classes, want %d", len(features), len(class), want)
			}
			x := make([]float32, 64)
			for i, got := range features {
				if c := samples.Sample(i, x); c != class[i] {
					t.Errorf("sample %d has class %d, want %d", i, class[i], c)
				}
				for k, want := range hiddenLayers(t, l, x) {
					if math.Abs(got[k]-want) > 1e-5*(1+math.Abs(want)) {
						t.Fatalf("sample %d, feature %d is %v, want %v", i, k, got[k], want)
					}
				}
			}
		})
	}
}

// hiddenLayers is the MLP's backbone in float64.
func hiddenLayers(t *testing.T, l *Learner, x []float32) []float64 {
	t.Helper()
	theta := must.Get(l.Parameters())(t)
	layout := l.options.Model.Layout()
	h := make([]float64, len(x))
	for i, v := range x {
		h[i] = float64(v)
	}
	for p := 0; p < layout.Classifier; p += 2 {
		w, bias := layout.Params[p], layout.Params[p+1]
		next := make([]float64, w.Dims[1])
		for j := range next {
			sum := float64(theta[bias.Offset+j])
			for i, v := range h {
				sum += v * float64(theta[w.Offset+i*len(next)+j])
			}
			next[j] = max(0, sum)
		}
		h = next
	}
	return h
}

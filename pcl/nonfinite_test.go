package pcl

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// TestSpoiltSample: a stream whose batches have a sample that is not finite makes, bit by bit, the
// steps of one that never delivered it, and that sample does not enter the memory.
func TestSpoiltSample(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for name, o := range map[string]Options{
		"emgd-gmc": {}, "mir": {}, "er": {Increment: "class"}, "emgd-gmc+der-pp": {}, "avggrad+ewc": {},
		"emgd":              {Increment: "class", ExtraUpdate: true},
		"emgd-gmc+per-task": {Edit: Edit{Eta: 1e-3}},
		"avggrad":           {Model: normalised(t)},
		"cagrad":            {Augment: func(rng *rand.Rand, x []float32) { x[1] += rng.Float32() }},
	} {
		t.Run(name, func(t *testing.T) {
			last := func(change func(b *data.Batch)) (l *Learner, leftOut int) {
				o.Method = newMethod(t, name, nil)
				l = smallLearner(t, b, "", o)
				d := pcltest.Blobs(4, 40, 10)
				first := blobTask(t, d, 1, 0, 1)
				first.Stream = &faulty{Resumable: first.Stream.(data.Resumable), at: []int{1, 2, 5},
					fault: func(b *data.Batch, next func(*data.Batch) error) error {
						must.Do(t, next(b))
						change(b)
						return nil
					}}
				attach(t, l, first)
				attach(t, l, blobTask(t, d, 2, 2, 3))
				for r, err := l.Step(); err == nil; r, err = l.Step() {
					if leftOut += r.LeftOut[1]; len(r.Skipped) > 0 || len(r.LeftOut) > 1 {
						t.Fatalf("step %d leaves out the rows %v, and samples of %v", r.Step, r.Skipped, r.LeftOut)
					}
				}
				return l, leftOut
			}
			want, _ := last(func(b *data.Batch) { b.N-- })
			for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				got, leftOut := last(func(b *data.Batch) { b.X[64*(b.N-1)] = float32(x) })
				if same(t, got, want); leftOut != 3 || t.Failed() {
					t.Fatalf("beside a sample of %g; %d were left out", x, leftOut)
				}
			}
		})
	}
}

// TestSpoiltMemory: stored samples of huge values cost themselves only. Whichever samples are drawn
// with them, the memory's rows take part in every step, and the samples that stay out are counted
// for the task that had them.
func TestSpoiltMemory(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for name, o := range map[string]Options{
		"emgd-gmc": {}, "er": {Increment: "class"}, "emgd-gmc+der-pp": {}, "emgd-gmc+per-task": {}, "mir": {}, "a-gem": {},
		"emgd": {Increment: "class"}, "avggrad": {Model: normalised(t)},
		"emgd-gmc+er-ace": {Increment: "class", Edit: Edit{Eta: 1e-3, Mode: "per_sample"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Method, o.Memory = newMethod(t, name, nil), memory.Config{Policy: "per_class", Budget: 8}
			l := smallLearner(t, b, "", o)
			d := pcltest.Blobs(6, 60, 10)
			attach(t, l, blobTask(t, d, 1, 0, 1))
			playOut(t, l)
			attach(t, l, blobTask(t, d, 2, 2, 3))
			bad := []int{1, 2, l.Memory().Len() - 1}
			for i, at := range bad {
				for p := range 64 {
					l.Memory().Item(at).Pixels[p] = []float32{1e25, -1e25, 3e38}[i] * float32(1-2*(p%2))
				}
			}
			leftOut := 0
			for r, err := l.Step(); err == nil; r, err = l.Step() {
				leftOut += r.LeftOut[1]
				switch {
				case len(r.Skipped) > 0:
					t.Fatalf("len(r.Skipped) is %d; want at most 0", len(r.Skipped))
				case r.Rejected:
					t.Fatal("r.Rejected is true")
				case len(r.LeftOut) > 1:
					t.Fatalf("len(r.LeftOut) is %d; want at most 1", len(r.LeftOut))
				case !slices.ContainsFunc(r.IDs, func(id int) bool {
					return id <= method.MemoryID
				}):
					t.Fatalf("step %d has the rows %v of %v samples; it leaves out the rows %v, and samples of %v",
						r.Step, r.IDs, r.N, r.Skipped, r.LeftOut)
				}
				if r.Edit != nil && (len(r.Edit.Indices) != r.N[0] || len(r.Edit.Gradients) != r.N[0]) {
					t.Fatalf("step %d edits %v of %d samples", r.Step, r.Edit.Indices, r.N[0])
				}
			}
			if leftOut == 0 {
				t.Error("no sample was left out")
			}
		})
	}
}

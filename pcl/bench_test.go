package pcl

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// endless delivers random images of two classes, like a PS-EMNIST stream that never ends.
type endless struct {
	rng   *rand.Rand
	bytes []uint8
	class int
}

func (s *endless) Next(b *data.Batch) error {
	from := s.rng.IntN(len(s.bytes) - len(b.X))
	for i := range b.X {
		b.X[i] = fp.Unit[s.bytes[from+i]]
	}
	for i := range b.Class {
		b.Class[i] = s.class + i%2
	}
	b.N = len(b.Class)
	return nil
}

// short is an endless stream that ends after some batches.
type short struct {
	endless
	left int
}

func (s *short) Next(b *data.Batch) error {
	if s.left--; s.left < 0 {
		return io.EOF
	}
	return s.endless.Next(b)
}

// psEMNIST is a learner of the benchmark's MLP with k running streams; nothing ends.
func psEMNIST(tb testing.TB, b *backend.Backend, programs *Programs, name string, k int) *Learner {
	l := emptyEMNIST(tb, b, programs, name)
	attachEndless(tb, l, 0, k)
	return l
}

// rehearsing is a learner with k rows, of which one is the memory, of 128 samples of each of some tasks that are over.
func rehearsing(tb testing.TB, b *backend.Backend, programs *Programs, name string, over, k int) *Learner {
	l := emptyEMNIST(tb, b, programs, name)
	for i := range over {
		stream := &short{endless{rng: rand.New(rand.NewPCG(3, uint64(i))), bytes: noise(), class: 2 * i}, 2}
		attach(tb, l, Task{Classes: []int{2 * i, 2*i + 1}, Stream: stream})
	}
	steps(tb, l, 2)
	attachEndless(tb, l, over, k-1)
	return l
}

func emptyEMNIST(tb testing.TB, b *backend.Backend, programs *Programs, name string) *Learner {
	l, err := NewLearner(completed(tb, b, name, Options{
		Model: must(model.NewMLP(784, []int{128, 64}, 62))(tb), Increment: scenario.ClassIncremental,
		Optimizer: optim.Adam{LR: 0.003}, Batch: 128, Memory: memory.Config{Policy: memory.PerClass, Budget: 64}, Programs: programs,
	}))
	ok(tb, err)
	return l
}

// noise is random pixels to cut images from.
func noise() []uint8 {
	pixels := make([]uint8, 4*128*784)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range pixels {
		pixels[i] = uint8(rng.IntN(256))
	}
	return pixels
}

// attachEndless attaches k tasks of two classes each, the first of them task number from.
func attachEndless(tb testing.TB, l *Learner, from, k int) {
	pixels := noise()
	for i := from; i < from+k; i++ {
		stream := &endless{rng: rand.New(rand.NewPCG(2, uint64(i))), bytes: pixels, class: 2 * i}
		attach(tb, l, Task{Classes: []int{2 * i, 2*i + 1}, Stream: stream})
	}
	ok(tb, l.Warm(from+k))
}

// BenchmarkMethods times whole PS-EMNIST steps with a memory of two tasks, of every method and of rules with parts of a
// rehearsal, as a ratio to AvgGrad's: step by step in turn on the same streams, by the medians. K counts AvgGrad's rows; some
// parts add others.
func BenchmarkMethods(b *testing.B) {
	parts := []string{"avggrad+der-pp", "avggrad+lwf", "avggrad+ewc", "avggrad+si", "avggrad+er-ace", "avggrad+mir", "avggrad+icarl", "emgd-gmc+per-task"}
	for _, name := range []string{backend.XLACPU, backend.Go} {
		be := pcltest.Backend(b, name)
		for _, method := range append(method.Names(), parts...) {
			for _, k := range []int{3, 6} {
				b.Run(fmt.Sprintf("%s/%s/K=%d", name, method, k), func(b *testing.B) {
					programs := NewPrograms(be)
					defer programs.Close()
					benchmarkPair(b, rehearsing(b, be, programs, method, 2, k), rehearsing(b, be, programs, "avggrad", 2, k))
				})
			}
		}
	}
}

// benchmarkPair times steps of a learner as a ratio to those of one with AvgGrad.
func benchmarkPair(b *testing.B, ours, mean *Learner) {
	defer ours.Close()
	defer mean.Close()
	timed := func(l *Learner) (wall, cpu float64) {
		began, used := time.Now(), cpuSeconds()
		ok(b, second(l.Step()))
		return time.Since(began).Seconds(), cpuSeconds() - used
	}
	for range 20 {
		timed(ours)
		timed(mean)
	}
	var all [4][]float64 // wall and processor seconds of both
	for b.Loop() {
		for i, l := range []*Learner{ours, mean} {
			wall, cpu := timed(l)
			all[i], all[2+i] = append(all[i], wall), append(all[2+i], cpu)
		}
	}
	var median [4]float64
	for i, times := range all {
		slices.Sort(times)
		median[i] = times[len(times)/2]
	}
	b.ReportMetric(median[0]/median[1], "ratio")
	if median[3] > 0 {
		b.ReportMetric(median[2]/median[3], "cpu-ratio")
	}
	b.ReportMetric(1/median[0], "steps/s")
}

package pcl

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// endless delivers random images of two classes, like a PS-EMNIST stream that never ends.
type endless struct {
	rng   *rand.Rand
	bytes []uint8
	class int
}

func (s *endless) Next(b *data.Batch) error {
	from := s.rng.IntN(len(s.bytes) - len(b.X))
	fp.Units(b.X, s.bytes[from:from+len(b.X)])
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

// rehearsing is a learner with k rows, of which one is the memory, of 128 samples of a task that is
// over.
func rehearsing(tb testing.TB, b *backend.Backend, programs *Programs, name string, k int) *Learner {
	l := emptyEMNIST(tb, b, programs, name)
	stream := &short{endless{rng: rand.New(rand.NewPCG(3, 0)), bytes: noise()}, 2}
	if _, err := l.Attach(Task{Classes: []int{0, 1}, Stream: stream}); err != nil {
		tb.Fatal(err)
	}
	for range 2 {
		if _, err := l.Step(); err != nil {
			tb.Fatal(err)
		}
	}
	attachEndless(tb, l, 1, k-1)
	return l
}

// twoFinished is like rehearsing with 128 samples of each of two tasks that are over.
func twoFinished(tb testing.TB, b *backend.Backend, programs *Programs, name string, k int) *Learner {
	l := emptyEMNIST(tb, b, programs, name)
	for i := range 2 {
		stream := &short{endless{rng: rand.New(rand.NewPCG(3, uint64(i))), bytes: noise(), class: 2 * i}, 2}
		if _, err := l.Attach(Task{Classes: []int{2 * i, 2*i + 1}, Stream: stream}); err != nil {
			tb.Fatal(err)
		}
	}
	for range 2 {
		if _, err := l.Step(); err != nil {
			tb.Fatal(err)
		}
	}
	attachEndless(tb, l, 2, k-1)
	return l
}

// scopedEMNIST is psEMNIST with the same network as a function of a GoMLX scope.
func scopedEMNIST(tb testing.TB, b *backend.Backend, programs *Programs, name string, k int) *Learner {
	net, err := model.NewScoped("mlp", 784, 62, func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
		for i, width := range []int{128, 64} {
			x = activation.Relu(layers.DenseWithBias(scope.In("dense%d", i), x, width))
		}
		return x
	})
	if err != nil {
		tb.Fatal(err)
	}
	l := withNetwork(tb, b, programs, name, net)
	attachEndless(tb, l, 0, k)
	return l
}

func emptyEMNIST(tb testing.TB, b *backend.Backend, programs *Programs, name string) *Learner {
	net, err := model.NewMLP(784, []int{128, 64}, 62)
	if err != nil {
		tb.Fatal(err)
	}
	return withNetwork(tb, b, programs, name, net)
}

func withNetwork(tb testing.TB, b *backend.Backend, programs *Programs, name string, net model.Model) *Learner {
	edit := Edit{}
	if rule, ok := strings.CutSuffix(name, "+edit"); ok {
		name, edit.Eta = rule, 0.003
	}
	fields, params := strings.Fields(name), map[string]any{} // such as "avggrad+der-pp draws=one"
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		params[key] = value
	}
	m := newMethod(tb, fields[0], params)
	l, err := New(tb.Context(), Options{
		Backend: b, Model: net, Method: m, Increment: "class",
		Optimizer: optim.Adam{LR: 0.003}, Batch: 128,
		Memory: memory.Config{Policy: "per_class", Budget: 64}, Programs: programs,
		Edit: edit,
	})
	if err != nil {
		tb.Fatal(err)
	}
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
		if _, err := l.Attach(Task{Classes: []int{2 * i, 2*i + 1}, Stream: stream}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := l.Precompile(from + k); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkMethods times whole PS-EMNIST steps with a memory, of every method, as a ratio to
// AvgGrad's.
func BenchmarkMethods(b *testing.B) {
	be := pcltest.Backend(b, backend.XLACPU)
	for _, name := range method.Names() {
		for _, k := range []int{3, 6} {
			b.Run(fmt.Sprintf("%s/K=%d", name, k), func(b *testing.B) { benchmarkRatio(b, be, name, k, rehearsing) })
		}
	}
}

// BenchmarkRehearsals times whole PS-EMNIST steps of rules with parts of a rehearsal as a ratio to
// AvgGrad's with plain replay. K counts AvgGrad's rows, of which one is the memory of two tasks
// that are over; some parts add rows.
func BenchmarkRehearsals(b *testing.B) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		b.Run(name, func(b *testing.B) {
			be := pcltest.Backend(b, name)
			for _, composition := range []string{
				"emgd-gmc", "emgd", "avggrad+der-pp draws=one", "avggrad+der-pp draws=two", "emgd-gmc+der-pp rows=apart",
				"emgd-gmc+per-task",
				"avggrad+lwf", "avggrad+ewc", "avggrad+si", "avggrad+er-ace", "avggrad+mir", "avggrad+icarl",
			} {
				for _, k := range []int{3, 5} {
					b.Run(fmt.Sprintf("%s/K=%d",
						composition, k), func(b *testing.B) { benchmarkRatio(b, be, composition, k, twoFinished) })
				}
			}
		})
	}
}

// BenchmarkEdit times EMGD steps with memory editing as a ratio to those without.
func BenchmarkEdit(b *testing.B) {
	be := pcltest.Backend(b, backend.XLACPU)
	for _, k := range []int{2, 3, 6} {
		b.Run(fmt.Sprintf("K=%d",
			k), func(b *testing.B) { benchmarkAgainst(b, be, "emgd-gmc+edit", "emgd-gmc", k, rehearsing) })
	}
}

// BenchmarkScoped times steps of the benchmark's MLP as a function of a GoMLX scope, as a ratio to
// the built-in one.
func BenchmarkScoped(b *testing.B) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		b.Run(name, func(b *testing.B) {
			be := pcltest.Backend(b, name)
			programs := NewPrograms(be)
			defer programs.Close()
			benchmarkPair(b, scopedEMNIST(b, be, programs, "emgd-gmc", 3), psEMNIST(b, be, programs, "emgd-gmc", 3), "built-in")
		})
	}
}

type maker func(testing.TB, *backend.Backend, *Programs, string, int) *Learner

func benchmarkRatio(b *testing.B, be *backend.Backend, rule string, k int, learner maker) {
	benchmarkAgainst(b, be, rule, "avggrad", k, learner)
}

func benchmarkAgainst(b *testing.B, be *backend.Backend, rule, other string, k int, learner maker) {
	programs := NewPrograms(be)
	defer programs.Close()
	benchmarkPair(b, learner(b, be, programs, rule, k), learner(b, be, programs, other, k), other)
}

// benchmarkPair times steps of a learner as a ratio to those of another one, whose name is other.
func benchmarkPair(b *testing.B, ours, mean *Learner, other string) {
	defer ours.Close()
	defer mean.Close()
	timed := func(l *Learner) (wall, cpu float64) {
		began, used := time.Now(), cpuSeconds()
		if _, err := l.Step(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began).Seconds(), cpuSeconds() - used
	}
	for range 20 {
		timed(ours)
		timed(mean)
	}
	var own, base, ownCPU, baseCPU []float64
	for b.Loop() {
		wall, cpu := timed(ours)
		own, ownCPU = append(own, wall), append(ownCPU, cpu)
		wall, cpu = timed(mean)
		base, baseCPU = append(base, wall), append(baseCPU, cpu)
	}
	for _, all := range [][]float64{own, base, ownCPU, baseCPU} {
		slices.Sort(all)
	}
	median := len(own) / 2
	b.ReportMetric(own[median]/base[median], "ratio")
	if baseCPU[median] > 0 {
		b.ReportMetric(ownCPU[median]/baseCPU[median], "cpu-ratio")
	}
	b.ReportMetric(1/own[median], "steps/s")
	b.ReportMetric(1/base[median], other+"-steps/s")
}

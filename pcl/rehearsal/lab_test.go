package rehearsal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// smallLab is a lab for a linear softmax model, logits Wx and features x, with what the tests here ask of one.
// All classes compete. Losses and gradients are exact, in float64.
type smallLab struct {
	oneTask         bool // whether predictions are among one task's classes
	Lab                  // nil: what no test needs
	classes, inputs int
	batch           int
	store           *memory.Store
	rng             *rand.Rand
	at              map[Point][]float64 // W, row by row
	current         [][]memory.Item
	candidates      []memory.Item
	gradients       int   // calls of Gradient
	updates         int   // calls of Update, each of which moves θ
	trained         []int // how many samples each call of Descend had
}

// newSmallLab has a model whose weights are 0.
func newSmallLab(t *testing.T, classes, inputs int, c memory.Config) *smallLab {
	t.Helper()
	return &smallLab{
		classes: classes, inputs: inputs, batch: 8, store: must.Get(memory.NewStore(c, 1))(t), rng: rand.New(rand.NewPCG(3, 4)),
		at: map[Point][]float64{Now: make([]float64, classes*inputs)},
	}
}

// filled is a part as New joins it.
func filled[P any](t *testing.T, p P) *P {
	t.Helper()
	must.Do(t, params.Fill(&p))
	return &p
}

func gaussian(r *rand.Rand, k, n int) [][]float64 {
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = make([]float64, n)
		for p := range rows[i] {
			rows[i][p] = r.NormFloat64()
		}
	}
	return rows
}

// add adds a·x to d.
func add(d []float64, a float64, x []float64) {
	for p := range d {
		d[p] += a * x[p]
	}
}

func inner(a, b []float64) (sum float64) {
	for p, x := range a {
		sum += x * b[p]
	}
	return sum
}

func sorted(x []int) []int { return slices.Sorted(slices.Values(x)) }

// drawn is n samples with random pixels and classes.
func (l *smallLab) drawn(n int) (samples []memory.Item) {
	for range n {
		it := memory.Item{Task: 1, Class: l.rng.IntN(l.classes), Pixels: make([]float32, l.inputs)}
		for p := range it.Pixels {
			it.Pixels[p] = l.rng.Float32()
		}
		samples = append(samples, it)
	}
	return samples
}

func (l *smallLab) Batch() int                           { return l.batch }
func (l *smallLab) OneTask() bool                        { return l.oneTask }
func (l *smallLab) Memory() *memory.Store                { return l.store }
func (l *smallLab) Rand() *rand.Rand                     { return l.rng }
func (l *smallLab) Image() (height, width, channels int) { return 2, 2, l.inputs / 4 }
func (l *smallLab) Running() []int                       { return []int{1} }
func (l *smallLab) Candidates(int) []memory.Item         { return l.candidates }
func (l *smallLab) Restart()                             {}
func (l *smallLab) Step() int                            { return 7 }
func (l *smallLab) Remember()                            { l.at[Remembered] = slices.Clone(l.at[Now]) }

func (l *smallLab) Update() {
	l.updates++
	add(l.at[Now], -1, l.now())
}

func (l *smallLab) Descend(samples []memory.Item, shares []float64, _ SGD) {
	n := len(samples)
	if shares != nil {
		n = -n
	}
	l.trained = append(l.trained, n)
}

// slope is ∂ℓ/∂x of a pixel, by differences.
func (l *smallLab) slope(at Point, it memory.Item, p int) float64 {
	const h = 1.0 / 512
	it.Pixels = slices.Clone(it.Pixels)
	it.Pixels[p] += h
	up := l.Losses(at, []memory.Item{it})
	it.Pixels[p] -= 2 * h
	down := l.Losses(at, []memory.Item{it})
	return (up[0] - down[0]) / (2 * h)
}

func (l *smallLab) PixelGradients(at Point, samples []memory.Item) (out [][]float32) {
	for _, it := range samples {
		d, g := l.probabilities(l.at[at], it), make([]float32, l.inputs)
		d[it.Class]--
		for o, x := range d {
			for p := range g {
				g[p] += float32(x * l.at[at][o*l.inputs+p])
			}
		}
		out = append(out, g)
	}
	return out
}

func (l *smallLab) Features(_ Point, samples []memory.Item) (out [][]float32) {
	for _, it := range samples {
		out = append(out, it.Pixels)
	}
	return out
}

// probabilities are the softmax of the logits.
func (l *smallLab) probabilities(w []float64, it memory.Item) []float64 {
	out, sum := make([]float64, l.classes), 0.0
	for o := range out {
		for p, x := range it.Pixels {
			out[o] += w[o*l.inputs+p] * float64(x)
		}
		out[o] = math.Exp(out[o])
		sum += out[o]
	}
	for o := range out {
		out[o] /= sum
	}
	return out
}

func (l *smallLab) Losses(at Point, samples []memory.Item) (out []float64) {
	for _, it := range samples {
		out = append(out, -math.Log(l.probabilities(l.at[at], it)[it.Class]))
	}
	return out
}

// mean is the gradient of the mean loss over W.
func (l *smallLab) mean(w []float64, samples []memory.Item) []float64 {
	g := make([]float64, len(w))
	for _, it := range samples {
		d := l.probabilities(w, it)
		d[it.Class]--
		for o := range d {
			for p, x := range it.Pixels {
				g[o*l.inputs+p] += d[o] * float64(x) / float64(len(samples))
			}
		}
	}
	return g
}

func (l *smallLab) Gradient(at Point, samples []memory.Item) []float32 {
	if len(samples) == 0 || len(samples) > l.batch {
		panic("no single batch")
	}
	l.gradients++
	g := l.mean(l.at[at], samples)
	out := make([]float32, len(g))
	for p, x := range g {
		out[p] = float32(x)
	}
	return out
}

// now is g_cur, the mean of the gradients of the running tasks.
func (l *smallLab) now() []float64 {
	g := make([]float64, l.classes*l.inputs)
	for _, batch := range l.current {
		add(g, 1/float64(len(l.current)), l.mean(l.at[Now], batch))
	}
	return g
}

func (l *smallLab) StepAhead(gamma float64) {
	l.at[Ahead] = slices.Clone(l.at[Now])
	add(l.at[Ahead], -gamma, l.now())
}

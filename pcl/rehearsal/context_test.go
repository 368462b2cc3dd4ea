package rehearsal

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// smallModel is the context of a linear softmax model, logits Wx and features x, with what the
// tests here ask of one. All classes compete. Losses and gradients are exact, in float64.
type smallModel struct {
	oneTask         bool // whether predictions are among one task's classes
	Context              // nil: what no test needs
	classes, inputs int
	batch           int
	store           *memory.Store
	rng             *rand.Rand
	at              map[Point][]float64 // W, row by row
	current         [][]memory.Item
	candidates      []memory.Item
	gradients       int   // calls of Gradient
	updates         int   // calls of Update, each of which moves θ
	trained         []int // how many samples each call of TrainStep had
	total           int   // of the last call of Progress
	broken          error // of the device
}

// newSmallModel has a model whose weights are 0.
func newSmallModel(t *testing.T, classes, inputs int, c memory.Config) *smallModel {
	t.Helper()
	return &smallModel{
		classes: classes, inputs: inputs, batch: 8, store: must.Get(memory.NewStore(c, 1))(t),
		rng: rand.New(rand.NewPCG(3, 4)),
		at:  map[Point][]float64{Current: make([]float64, classes*inputs)},
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
func (l *smallModel) drawn(n int) (samples []memory.Item) {
	for range n {
		it := memory.Item{Task: 1, Class: l.rng.IntN(l.classes), Pixels: make([]float32, l.inputs)}
		for p := range it.Pixels {
			it.Pixels[p] = l.rng.Float32()
		}
		samples = append(samples, it)
	}
	return samples
}

func (l *smallModel) Batch() int                           { return l.batch }
func (l *smallModel) OneTask() bool                        { return l.oneTask }
func (l *smallModel) Memory() *memory.Store                { return l.store }
func (l *smallModel) Rand() *rand.Rand                     { return l.rng }
func (l *smallModel) Image() (height, width, channels int) { return 2, 2, l.inputs / 4 }
func (l *smallModel) Running() []int                       { return []int{1} }
func (l *smallModel) Candidates(int) []memory.Item         { return l.candidates }
func (l *smallModel) Reinitialize() error                  { return l.broken }
func (l *smallModel) Step() int                            { return 7 }

func (l *smallModel) Remember() error {
	l.at[Remembered] = slices.Clone(l.at[Current])
	return l.broken
}

func (l *smallModel) Update() error {
	l.updates++
	add(l.at[Current], -1, l.now())
	return l.broken
}

func (l *smallModel) Progress(done, total int) error {
	if l.total = total; done != len(l.trained) {
		return fmt.Errorf("%d steps are told, %d were made", done, len(l.trained))
	}
	return nil
}

func (l *smallModel) TrainStep(samples []memory.Item, shares []float64, _ SGD) error {
	n := len(samples)
	if shares != nil {
		n = -n
	}
	l.trained = append(l.trained, n)
	return l.broken
}

// slope is ∂ℓ/∂x of a pixel, by differences.
func (l *smallModel) slope(at Point, it memory.Item, p int) float64 {
	const h = 1.0 / 512
	it.Pixels = slices.Clone(it.Pixels)
	it.Pixels[p] += h
	up, _ := l.Losses(at, []memory.Item{it})
	it.Pixels[p] -= 2 * h
	down, _ := l.Losses(at, []memory.Item{it})
	return (up[0] - down[0]) / (2 * h)
}

func (l *smallModel) PixelGradients(at Point, samples []memory.Item) (out [][]float32, err error) {
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
	return out, l.broken
}

func (l *smallModel) Features(_ Point, samples []memory.Item) (out [][]float32, err error) {
	for _, it := range samples {
		out = append(out, it.Pixels)
	}
	return out, l.broken
}

// probabilities are the softmax of the logits.
func (l *smallModel) probabilities(w []float64, it memory.Item) []float64 {
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

func (l *smallModel) Losses(at Point, samples []memory.Item) (out []float64, err error) {
	for _, it := range samples {
		out = append(out, -math.Log(l.probabilities(l.at[at], it)[it.Class]))
	}
	return out, l.broken
}

// mean is the gradient of the mean loss over W.
func (l *smallModel) mean(w []float64, samples []memory.Item) []float64 {
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

func (l *smallModel) Gradient(at Point, samples []memory.Item) ([]float32, error) {
	if len(samples) == 0 || len(samples) > l.batch {
		panic("no single batch")
	}
	l.gradients++
	g := l.mean(l.at[at], samples)
	out := make([]float32, len(g))
	for p, x := range g {
		out[p] = float32(x)
	}
	return out, l.broken
}

// now is g_cur, the mean of the gradients of the running tasks.
func (l *smallModel) now() []float64 {
	g := make([]float64, l.classes*l.inputs)
	for _, batch := range l.current {
		add(g, 1/float64(len(l.current)), l.mean(l.at[Current], batch))
	}
	return g
}

func (l *smallModel) VirtualStep(gamma float64) error {
	l.at[Virtual] = slices.Clone(l.at[Current])
	add(l.at[Virtual], -gamma, l.now())
	return l.broken
}

// TestDeviceErrors: an error of the device comes back from every part that asks for something that
// is computed.
func TestDeviceErrors(t *testing.T) {
	lost := errors.New("the device is lost")
	for name, ask := range map[string]func(l *smallModel) error{
		"gmed":         func(l *smallModel) error { return second(filled(t, GMED{}).draw(l)) },
		"gmed-release": func(l *smallModel) error { return second(filled(t, GMEDRelease{}).draw(l)) },
		"mir":          func(l *smallModel) error { return second(filled(t, MIR{}).draw(l)) },
		"mir, as a row": func(l *smallModel) error {
			return second(must.Get(New(&MIR{}))(t).Roles().Replayer.Replays(l))
		},
		"gss":     func(l *smallModel) error { return filled(t, GSS{ScoreAll: true}).store(l, l.current) },
		"herding": func(l *smallModel) error { return curator{must.Get(New(&Herding{}))(t)}.Curate(l, 1, l.drawn(9)) },
		"ncm":     func(l *smallModel) error { return must.Get(New(&NearestMean{}))(t).Predict.Prepare(l) },
		"gdumb":   func(l *smallModel) error { return must.Get(New(&Retrain{Passes: 1}))(t).Predict.Prepare(l) },
		"lwf":     func(l *smallModel) error { return curator{must.Get(New(&LwF{}))(t)}.Curate(l, 1, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			l := interfered(t)
			if err := ask(l); err != nil {
				t.Fatalf("before: %v", err)
			}
			if l.broken = lost; !errors.Is(ask(l), lost) {
				t.Error("the error is lost")
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

package viz_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/parallelcl/parallelcl/datasets/glyphs"
	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/viz"
)

// net is a network of one hidden layer, tanh(Wx), small enough to train inside an example.
type net struct{ theta []float64 }

const (
	inputs, hidden, outputs = glyphs.Side * glyphs.Side, 24, 10
	perTask                 = 5 // classes
)

func newNet(rng *rand.Rand) *net {
	n := &net{make([]float64, hidden*(inputs+outputs))}
	for i := range n.theta {
		n.theta[i] = rng.NormFloat64() * 0.05
	}
	return n
}

func (n *net) features(x []float64) []float64 {
	h := make([]float64, hidden)
	for j := range h {
		h[j] = math.Tanh(floats.Dot(n.theta[j*inputs:(j+1)*inputs], x))
	}
	return h
}

// gradient adds a share of the gradient of the cross-entropy of (x, y) to dTheta and returns that of x.
func (n *net) gradient(x []float64, y int, share float64, dTheta []float64) []float64 {
	h := n.features(x)
	head, dHead := n.theta[hidden*inputs:], dTheta[hidden*inputs:]
	p := make([]float64, outputs)
	for c := range p {
		p[c] = floats.Dot(head[c*hidden:(c+1)*hidden], h)
	}
	norm := floats.LogSumExp(p)
	dh, dx := make([]float64, hidden), make([]float64, inputs)
	for c := range p {
		g := math.Exp(p[c] - norm)
		if c == y {
			g--
		}
		floats.AddScaled(dh, g, head[c*hidden:(c+1)*hidden])
		floats.AddScaled(dHead[c*hidden:(c+1)*hidden], share*g, h)
	}
	for j := range dh {
		g := dh[j] * (1 - h[j]*h[j])
		floats.AddScaled(dx, g, n.theta[j*inputs:(j+1)*inputs])
		floats.AddScaled(dTheta[j*inputs:(j+1)*inputs], share*g, x)
	}
	return dx
}

type glyph struct {
	x     []float64
	class int
}

func (n *net) meanGradient(batch []glyph) []float64 {
	d := make([]float64, len(n.theta))
	for _, s := range batch {
		n.gradient(s.x, s.class, 1/float64(len(batch)), d)
	}
	return d
}

// editGradient is ∇ₓ‖∇ℓ(x) − D‖² = 2·∂/∂x⟨∇ℓ(x), v⟩, v = ∇ℓ(x) − D, by central differences along v.
func (n *net) editGradient(s glyph, d []float64) []float64 {
	v := n.meanGradient([]glyph{s})
	floats.Sub(v, d)
	e := 1e-4 / floats.Norm(v, 2)
	moved := func(by float64) []float64 {
		m := net{append([]float64{}, n.theta...)}
		floats.AddScaled(m.theta, by, v)
		return m.gradient(s.x, s.class, 0, make([]float64, len(n.theta)))
	}
	g := moved(e)
	floats.Sub(g, moved(-e))
	floats.Scale(1/e, g)
	return g
}

// study is two tasks of five digits, the second with the rehearsal of the first: by the mean gradient
// (ER), and by EMGD with editing of the stored images.
type study struct {
	early, er, edited viz.FeatureMap
	images            []viz.EditedImage
}

var tinyStudy = sync.OnceValue(func() *study {
	train, test, err := glyphs.Generate(context.Background(), glyphs.Config{Seed: 1, TrainPerClass: 40, TestPerClass: 30})
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var tasks [2][]glyph
	for _, s := range samples(train, 2*perTask) {
		tasks[s.class/perTask] = append(tasks[s.class/perTask], s)
	}
	tested := samples(test, perTask)
	memory := stored(tasks[0], 5)

	n := newNet(rng)
	for range 150 {
		floats.AddScaled(n.theta, -0.1, n.meanGradient(draw(rng, tasks[0], 32)))
	}
	out := &study{early: featureMap("after task 1", n, tested, memory)}

	er := &net{append([]float64{}, n.theta...)}
	for range 150 {
		d := er.meanGradient(draw(rng, tasks[1], 32))
		floats.Add(d, er.meanGradient(draw(rng, memory, 16)))
		floats.AddScaled(er.theta, -0.05, d)
	}
	out.er = featureMap("after task 2, ER", er, tested, memory)

	changed := stored(tasks[0], 5)
	out.images = rehearse(rng, n, tasks[1], changed)
	out.edited = featureMap("after task 2, EMGD (GMC)+ME", n, tested, changed)
	return out
})

// rehearse trains on task 2 and the memory with EMGD and edits the stored images that were drawn.
func rehearse(rng *rand.Rand, n *net, task, memory []glyph) []viz.EditedImage {
	var elastic emgd.Elastic
	var solver emgd.Solver
	sigma := make([]float64, 2)
	images := make([]viz.EditedImage, perTask) // the first stored image of each class
	for step := range 150 {
		rows := [2][]float64{n.meanGradient(memory), n.meanGradient(draw(rng, task, 32))}
		cross := floats.Dot(rows[0], rows[1])
		gram := []float64{floats.Dot(rows[0], rows[0]), cross, cross, floats.Dot(rows[1], rows[1])}
		p, err := emgd.NewProblem(gram)
		if err != nil {
			log.Fatal(err)
		}
		if err := elastic.Factors([]int{0, 2}, p, sigma); err != nil {
			log.Fatal(err)
		}
		c, err := solver.Solve(p, sigma)
		if err != nil {
			log.Fatal(err)
		}
		d := make([]float64, len(n.theta))
		floats.AddScaled(d, c.Lambda[0], rows[0])
		floats.AddScaled(d, c.Lambda[1], rows[1])
		for i, s := range memory {
			if step%3 != 0 {
				break
			}
			g := n.editGradient(s, d)
			if i%5 == 0 && step == 0 {
				images[i/5] = viz.EditedImage{Label: fmt.Sprintf("class %d", s.class), H: glyphs.Side, W: glyphs.Side, C: 1,
					Before: float32s(s.x), Gradient: float32s(g)}
			}
			rms := floats.Norm(g, 2) / math.Sqrt(inputs)
			for k := range s.x {
				s.x[k] = min(1, max(0, s.x[k]-0.003*g[k]/rms))
			}
			if i%5 == 0 {
				images[i/5].After = float32s(s.x)
			}
		}
		floats.AddScaled(n.theta, -0.05, d)
	}
	return images
}

func featureMap(title string, n *net, tested, memory []glyph) viz.FeatureMap {
	m := viz.FeatureMap{Title: title}
	var features [][]float64
	for i, s := range append(append([]glyph{}, tested...), memory...) {
		features = append(features, n.features(s.x))
		m.Class = append(m.Class, s.class)
		m.Rehearsal = append(m.Rehearsal, i >= len(tested))
	}
	var err error
	if m.Cosine, err = viz.RehearsalCosine(features, m.Class, m.Rehearsal); err != nil {
		log.Fatal(err)
	}
	if m.Baseline, err = viz.RehearsalBaseline(features, m.Class, m.Rehearsal); err != nil {
		log.Fatal(err)
	}
	m.X = principal(features)
	return m
}

// principal projects onto the two directions of largest variance.
func principal(features [][]float64) [][2]float64 {
	data := mat.NewDense(len(features), hidden, nil)
	for i, f := range features {
		data.SetRow(i, f)
	}
	var pc stat.PC
	var vectors, places mat.Dense
	if !pc.PrincipalComponents(data, nil) {
		log.Fatal("no principal components")
	}
	pc.VectorsTo(&vectors)
	places.Mul(data, vectors.Slice(0, hidden, 0, 2))
	out := make([][2]float64, len(features))
	for i := range out {
		out[i] = [2]float64{places.At(i, 0), places.At(i, 1)}
	}
	return out
}

func samples(images glyphs.Images, classes int) (out []glyph) {
	for i, label := range images.Labels {
		if int(label) >= classes {
			continue
		}
		s := glyph{class: int(label), x: make([]float64, inputs)}
		for k := range s.x {
			s.x[k] = float64(images.Pixels[i*inputs+k]) / 255
		}
		out = append(out, s)
	}
	return out
}

// stored copies the first images of each class.
func stored(from []glyph, perClass int) (out []glyph) {
	for class := range perTask {
		kept := 0
		for _, s := range from {
			if s.class == class && kept < perClass {
				kept++
				out = append(out, glyph{append([]float64{}, s.x...), class})
			}
		}
	}
	return out
}

func draw(rng *rand.Rand, from []glyph, n int) []glyph {
	out := make([]glyph, n)
	for i := range out {
		out[i] = from[rng.IntN(len(from))]
	}
	return out
}

func float32s(xs []float64) []float32 {
	out := make([]float32, len(xs))
	for i, x := range xs {
		out[i] = float32(x)
	}
	return out
}

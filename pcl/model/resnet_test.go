package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

func newResNet18(t testing.TB, c Sizes) Model {
	t.Helper()
	return must.Get(NewResNet18(c))(t)
}

// TestResNet18Layout counts the parameters of the CIFAR-style ResNet-18 of 100 classes, 11.22
// million in the literature: convolutions, 2 for each normalised channel, and the classifier.
func TestResNet18Layout(t *testing.T) {
	c := Sizes{Height: 32, Width: 32, Channels: 3, Outputs: 100}
	l := newResNet18(t, c).Layout()
	if l.Total != 11_220_132 || l.Total-l.Backbone != 512*100+100 || l.StatsTotal != 9600 {
		t.Errorf("%d parameters, %d of the classifier, %d statistics", l.Total, l.Total-l.Backbone, l.StatsTotal)
	}
	c.Height, c.Width, c.Release = 64, 64, true
	if m := newResNet18(t, c); m.Layout().Total != l.Total+4800 || m.Key() != "resnet18-64x64x3-64-100-release" ||
		m.Inputs() != 64*64*3 {
		t.Errorf("%s: %d parameters, %d inputs", m.Key(), m.Layout().Total, m.Inputs())
	}
	names := map[string]bool{}
	for _, list := range [][]Param{l.Params, l.Stats} {
		at := 0
		for _, p := range list {
			if names[p.Name] || p.Offset != at {
				t.Errorf("%s begins at %d, want %d, or is there twice", p.Name, p.Offset, at)
			}
			names[p.Name], at = true, at+p.Size()
		}
	}
	for _, name := range []string{"stem/conv/weights", "layer1/0/conv1/weights", "layer4/1/norm2/scale",
		"layer2/0/shortcut/conv/weights", "layer2/0/shortcut/norm/variance"} {
		if !names[name] {
			t.Errorf("no %s", name)
		}
	}
}

// resNetProblem is a small ResNet-18 and a batch of six images of which the last is padding.
type resNetProblem struct {
	net Model
	in  []tensor // θ, x, v, label, lo, hi, weight
}

func newResNetProblem(t testing.TB, release bool) *resNetProblem {
	return problemOf(newResNet18(t, Sizes{Height: 8, Width: 16, Channels: 2, StemChannels: 3, Outputs: 4,
		Release: release}))
}

func problemOf(net Model) *resNetProblem {
	r := rand.New(rand.NewPCG(21, 4))
	total := net.Layout().Total
	theta := make([]float64, total)
	drawn, _ := net.Layout().Init(r)
	for i, v := range drawn {
		theta[i] = float64(v) + .1*r.NormFloat64()
	}
	return &resNetProblem{net, []tensor{
		floats(theta, total), floats(pcltest.Normal(r, 6*net.Inputs()), 6, net.Inputs()),
		floats(pcltest.Normal(r, total), total),
		ints(0, 3, 2, 2, 1, 0), ints(0, 2, 0, 2, 0, 0), ints(2, 4, 4, 3, 4, 1), floats([]float64{.2, .2, .2, .2, .2, 0}, 6),
	}}
}

// build gives the loss, its tangent, gradient and pixel gradient along v, and the batch's
// statistics.
func (p *resNetProblem) build(n []*graph.Node) []*graph.Node {
	l := p.net.Layout()
	parts, along := split(n[0], l.Params), split(n[2], l.Params)
	targets := targetsOf(n[3:])
	out := p.net.Forward(Pass{Params: duals(parts, along...), X: Dual{Value: n[1]}, Weight: n[6]})
	loss := meanEntropy(out.Logits, targets)
	return []*graph.Node{
		loss.Value, loss.Tangent, join(graph.Gradient(loss.Value, parts...)),
		pixelGradient(p.net, parts, along, n[1], targets), join(out.Stats),
	}
}

// moved returns the inputs with one of them moved.
func (p *resNetProblem) moved(which int, h float64, direction []float64) []tensor {
	in := slices.Clone(p.in)
	in[which].flat = moved(in[which].flat.([]float64), h, direction)
	return in
}

// separate is a backend whose device does not read the host's memory, as a GPU's.
type separate struct{ compute.Backend }

func (separate) HasSharedBuffers() bool { return false }

// TestResNet18OnGPU: the layers that have another form on a GPU compute the same.
func TestResNet18OnGPU(t *testing.T) {
	for _, release := range []bool{false, true} {
		p := newResNetProblem(t, release)
		b := pcltest.Backend(t, backend.Go)
		here := compile(t, b, p.build)(p.in)
		there := compile(t, &backend.Backend{Backend: separate{b.Backend}, Info: b.Info}, p.build)(p.in)
		for k, want := range here {
			pcltest.Within(t, fmt.Sprintf("output %d", k), 1e-9, there[k], want...)
		}
	}
}

// TestImageNetStem: the network with the published stem has the layers of torchvision's, 11.69
// million parameters, and its tangent and gradients agree with one another and with central
// differences.
func TestImageNetStem(t *testing.T) {
	l := newResNet18(t, Sizes{Height: 224, Width: 224, Channels: 3, Outputs: 1000, Stem: StemImageNet}).Layout()
	if l.Total != 11_689_512 {
		t.Errorf("%d parameters", l.Total)
	}
	small := Sizes{Height: 31, Width: 18, Channels: 2, StemChannels: 3, Outputs: 4, Stem: StemImageNet}
	checkDerivatives(t, problemOf(newResNet18(t, small)))
	if _, err := NewResNet18(Sizes{Height: 8, Width: 8, Channels: 1, Outputs: 2, Stem: "large"}); err == nil {
		t.Error("another stem is made")
	}
}

// TestResNet18Derivatives compares tangent, gradient and pixel gradient of the whole model with one
// another and with central differences, among others pixel by pixel.
func TestResNet18Derivatives(t *testing.T) {
	for _, release := range []bool{false, true} {
		checkDerivatives(t, newResNetProblem(t, release))
	}
}

func checkDerivatives(t *testing.T, p *resNetProblem) {
	t.Helper()
	eval := compile(t, pcltest.Backend(t, backend.Go), p.build)
	got := eval(p.in)
	v := p.in[2].flat.([]float64)
	const h = 1e-6
	compare := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-6*(.1+math.Abs(want)) {
			t.Errorf("%s: %s is %.9g, want %.9g", p.net.Key(), what, got, want)
		}
	}
	compare("⟨gradient,v⟩", dot(got[2], v), got[1][0])
	compare("tangent", got[1][0], (eval(p.moved(0, h, v))[0][0]-eval(p.moved(0, -h, v))[0][0])/(2*h))
	r, pixels := rand.New(rand.NewPCG(2, 2)), len(got[3])
	for i := range 8 {
		u := pcltest.Normal(r, pixels)
		if i > 0 {
			u = make([]float64, pixels)
			u[r.IntN(pixels*5/6)] = 1
		}
		compare("pixel gradient", dot(got[3], u), (eval(p.moved(1, h, u))[1][0]-eval(p.moved(1, -h, u))[1][0])/(2*h))
	}
	if padding := got[3][pixels*5/6:]; slices.Min(padding) != 0 || slices.Max(padding) != 0 {
		t.Errorf("%s: padding has a pixel gradient", p.net.Key())
	}
}

// TestReleaseBlock: with the ReLU before the addition a block can only add to its input, else not.
func TestReleaseBlock(t *testing.T) {
	for _, release := range []bool{false, true} {
		l, r := blockOf(4, 3, 3, 2, 2, 1, release), rand.New(rand.NewPCG(7, 7))
		var in []tensor
		for _, dims := range l.dims {
			p := Param{Dims: dims}
			in = append(in, floats(pcltest.Normal(r, p.Size()), dims...))
		}
		less := run(t, in, func(n []*graph.Node) []*graph.Node {
			x := graph.Abs(n[0])
			return []*graph.Node{graph.ReduceAllMin(graph.Sub(l.apply(duals(append([]*graph.Node{x}, n[1:]...))).Value, x))}
		})[0][0]
		if release != (less >= 0) {
			t.Errorf("release %v: the smallest difference to the input is %g", release, less)
		}
	}
}

// TestResNet18Padding: padded samples change nothing, whatever they hold.
func TestResNet18Padding(t *testing.T) {
	p := newResNetProblem(t, false)
	want := run(t, p.in, p.build)
	const valid = 5
	short := slices.Clone(p.in)
	short[1] = floats(p.in[1].flat.([]float64)[:valid*p.net.Inputs()], valid, p.net.Inputs())
	for i := 3; i < 6; i++ {
		short[i] = ints(p.in[i].flat.([]int32)[:valid]...)
	}
	short[6] = floats(p.in[6].flat.([]float64)[:valid], valid)
	other := slices.Clone(p.in)
	x := slices.Clone(p.in[1].flat.([]float64))
	for i := valid * p.net.Inputs(); i < len(x); i++ {
		x[i] *= 100
	}
	other[1].flat = x
	for _, in := range [][]tensor{short, other} {
		for k, got := range run(t, in, p.build) {
			pcltest.Within(t, fmt.Sprintf("output %d", k), 1e-9, got, want[k][:len(got)]...)
		}
	}
}

// TestResNet18Running: with the batch's statistics as the running ones the logits are the same;
// with others a sample's logits don't depend on its neighbours, and no statistics come out.
func TestResNet18Running(t *testing.T) {
	p := newResNetProblem(t, true)
	l := p.net.Layout()
	stats := floats(nil, l.StatsTotal)
	_, statistics := l.Init(rand.New(rand.NewPCG(1, 1)))
	for _, s := range statistics {
		stats.flat = append(stats.flat.([]float64), float64(s))
	}
	got := run(t, []tensor{p.in[0], p.in[1], p.in[6], stats}, func(n []*graph.Node) []*graph.Node {
		forward := func(x *graph.Node, running []*graph.Node) Output {
			return p.net.Forward(Pass{Params: duals(split(n[0], l.Params)), X: Dual{Value: x}, Weight: n[2], Running: running})
		}
		own := forward(n[1], nil)
		running := forward(n[1], split(n[3], l.Stats))
		if running.Stats != nil || len(own.Stats) != len(l.Stats) {
			t.Error("statistics come out of a pass that did not use the batch's, or not of one that did")
		}
		if d := own.Features.Value.Shape().Dimensions; !slices.Equal(d, []int{6, 24}) {
			t.Errorf("features are %v, want [6 24]", d)
		}
		first := graph.Slice(n[1], graph.AxisRange(0, 1))
		return []*graph.Node{
			own.Logits.Value, forward(n[1], own.Stats).Logits.Value,
			running.Logits.Value, forward(first, split(n[3], l.Stats)).Logits.Value,
		}
	})
	pcltest.Within(t, "the batch's own statistics", 1e-9, got[1], got[0]...)
	pcltest.Within(t, "alone", 1e-9, got[2], got[3]...)
	if slices.Equal(got[0], got[2]) {
		t.Error("the running statistics change nothing")
	}
}

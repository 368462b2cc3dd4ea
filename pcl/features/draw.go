package features

import (
	"math"
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// Draw returns weights of EfficientNet-Lite0 that are drawn at random, with the published names:
// for tests, and as a control that shows what training the backbone brings.
func Draw(seed uint64) *safetensors.File {
	rng := rand.New(rand.NewPCG(seed, 1))
	f := &safetensors.File{}
	add := func(name string, value func() float64, dims ...int) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(value())
		}
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Dims: dims, Values: values})
	}
	layers, norms := lite0()
	for i, l := range layers {
		in := l.in
		if l.depthwise {
			in = 1
		}
		deviation := math.Sqrt(2 / float64(in*l.size*l.size))
		add(l.name+".weight", func() float64 { return deviation * rng.NormFloat64() }, l.out, in, l.size, l.size)
		add(norms[i]+".weight", func() float64 { return 0.5 + rng.Float64() }, l.out)
		add(norms[i]+".bias", func() float64 { return 0.3 * rng.NormFloat64() }, l.out)
		add(norms[i]+".running_mean", func() float64 { return 0.3 * rng.NormFloat64() }, l.out)
		add(norms[i]+".running_var", func() float64 { return 0.5 + rng.Float64() }, l.out)
	}
	return f
}

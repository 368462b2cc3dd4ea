package features

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// A layer is a convolution with its batch normalisation folded in.
type layer struct {
	name        string
	size        int // of its square kernel, 1, 3 or 5
	stride      int
	in, out     int
	depthwise   bool // whether each channel has a kernel of its own
	relu        bool // whether values are cut to [0,6] behind it
	enter, join bool // whether its input is kept, and added to its output

	weights []float32 // [size,size,in,out], or [size,size,out] if it is depthwise
	bias    []float32 // [out]
}

// stages of EfficientNet-Lite0: how many blocks, and of these the kernel, the first stride, the
// widening and the channels.
var stages = []struct{ blocks, size, stride, widen, out int }{
	{1, 3, 1, 1, 16}, {2, 3, 2, 6, 24}, {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80}, {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192},
	{1, 3, 1, 6, 320},
}

// lite0 returns the layers of EfficientNet-Lite0 up to its features, without weights, and the names
// of their tensors in the published file.
func lite0() (layers []layer, norms []string) {
	add := func(l layer, norm string) {
		layers, norms = append(layers, l), append(norms, norm)
	}
	add(layer{name: "_conv_stem", size: 3, stride: 2, in: 3, out: 32, relu: true}, "_bn0")
	in, n := 32, 0
	for _, s := range stages {
		for b := range s.blocks {
			stride := 1
			if b == 0 {
				stride = s.stride
			}
			block, wide := fmt.Sprintf("_blocks.%d.", n), in*s.widen
			skip := stride == 1 && in == s.out
			if s.widen > 1 {
				add(layer{name: block + "_expand_conv", size: 1, stride: 1, in: in, out: wide, relu: true, enter: skip},
					block+"_bn0")
			}
			add(layer{name: block + "_depthwise_conv", size: s.size, stride: stride, in: wide, out: wide, depthwise: true,
				relu: true}, block+"_bn1")
			add(layer{name: block + "_project_conv", size: 1, stride: 1, in: wide, out: s.out, join: skip}, block+"_bn2")
			in, n = s.out, n+1
		}
	}
	add(layer{name: "_conv_head", size: 1, stride: 1, in: in, out: Width, relu: true}, "_bn1")
	return layers, norms
}

// weights has the weights of a backbone, whatever file they came in.
type weights struct {
	layers []layer
	onnx   *fromONNX // in place of layers
	sum    string    // SHA-256 of all values in their order
}

// published is the sum of the weights that the program installs.
const published = "52f3b1cd645c321edae8461dd82783205a87615ce2d30c14b4a5e7e747369ae1"

const normEpsilon = 1e-3

// fold takes the tensors of EfficientNet-Lite0 from a file. It may have others.
func fold(f *safetensors.File) (*weights, error) {
	layers, norms := lite0()
	h := sha256.New()
	take := func(name string, dims ...int) ([]float32, error) {
		i := slices.IndexFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("no tensor %s: they are not the weights of an EfficientNet-Lite0 with the published names",
				name)
		case !slices.Equal(f.Tensors[i].Dims, dims):
			return nil, fmt.Errorf("tensor %s has the shape %v; want %v", name, f.Tensors[i].Dims, dims)
		case slices.ContainsFunc(f.Tensors[i].Values, func(v float32) bool { return v-v != 0 }):
			return nil, fmt.Errorf("tensor %s has a value that is not finite", name)
		}
		binary.Write(h, binary.LittleEndian, f.Tensors[i].Values) // which does not fail
		return f.Tensors[i].Values, nil
	}
	for i := range layers {
		if err := layers[i].fold(norms[i], take); err != nil {
			return nil, err
		}
	}
	return &weights{layers: layers, sum: hex.EncodeToString(h.Sum(nil))}, nil
}

// fold sets the weights of a layer, in double precision until the end.
func (l *layer) fold(norm string, take func(name string, dims ...int) ([]float32, error)) error {
	in := l.in
	if l.depthwise {
		in = 1
	}
	kernel, err := take(l.name+".weight", l.out, in, l.size, l.size)
	if err != nil {
		return err
	}
	var normal [4][]float32
	for i, part := range []string{".weight", ".bias", ".running_mean", ".running_var"} {
		if normal[i], err = take(norm+part, l.out); err != nil {
			return err
		}
	}
	area := l.size * l.size
	l.weights, l.bias = make([]float32, len(kernel)), make([]float32, l.out)
	for o := range l.out {
		variance := float64(normal[3][o]) + normEpsilon
		if variance <= 0 {
			return fmt.Errorf("tensor %s.running_var has the value %g; want none below 0", norm, normal[3][o])
		}
		scale := float64(normal[0][o]) / math.Sqrt(variance)
		l.bias[o] = float32(float64(normal[1][o]) - float64(normal[2][o])*scale)
		for i := range in {
			for at := range area {
				l.weights[(at*in+i)*l.out+o] = float32(float64(kernel[(o*in+i)*area+at]) * scale)
			}
		}
	}
	return nil
}

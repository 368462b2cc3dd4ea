package features

import (
	"context"
	"errors"
	"io"

	"github.com/parallelcl/parallelcl/pcl/onnx"
)

// ForONNX returns the backbone for an ONNX file that takes pictures of height × width with 1
// channel, grey, or 3. Its weights are fetched if need be; dir is the cache, as in [Options].
func ForONNX(ctx context.Context, s Spec, dir string, progress io.Writer, height, width, channels int) (
	*onnx.Backbone, error,
) {
	if err := (Pictures{Height: height, Width: width, Channels: channels}).check(); err != nil {
		return nil, err
	}
	dir, err := cacheDir(dir)
	if err != nil {
		return nil, err
	}
	if s.Backbone == ONNX {
		return nil, errors.New("features: a backbone from an ONNX file is not written into another one: join the two files")
	}
	w, _, err := weightsOf(ctx, s, dir, progress)
	if err != nil {
		return nil, err
	}
	b := &onnx.Backbone{
		Height: height, Width: width, Channels: channels, Size: s.Size, Flips: s.Flips, Features: Width,
		High: resizing(height, s.Size), Wide: resizing(width, s.Size),
	}
	for i := range w.layers {
		l := &w.layers[i]
		one := onnx.Layer{
			Name: l.name, Size: l.size, Stride: l.stride, Groups: 1, Bias: l.bias,
			ReLU6: l.relu, Enter: l.enter, Join: l.join,
		}
		in := l.in
		if l.depthwise {
			in, one.Groups = 1, l.out
		}
		area := l.size * l.size
		one.Kernel = make([]float32, len(l.weights)) // [k,k,in,out] to [out,in,k,k]
		for at, v := range l.weights {
			o, i, place := at%l.out, at/l.out%in, at/l.out/in
			one.Kernel[(o*in+i)*area+place] = v
		}
		b.Layers = append(b.Layers, one)
	}
	return b, nil
}

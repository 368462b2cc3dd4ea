package features

import (
	"context"
	"math"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

var entrySize = store{width: Width}.entrySize()

// Unrounded returns the features of all pictures, divided by a quarter of their length and cut to
// 1.
func Unrounded(ctx context.Context, b *backend.Backend, s Spec, p Pictures) ([][]float32, error) {
	w, err := readWeights(s.Weights)
	if err != nil {
		return nil, err
	}
	n, err := newNetwork(b, w, s)
	if err != nil {
		return nil, err
	}
	defer n.close()
	values, err := n.values(ctx, p)
	var out [][]float32
	for i := range p.Len() {
		v := values[i*Width : (i+1)*Width]
		length := 0.0
		for _, x := range v {
			length += float64(x) * float64(x)
		}
		length = math.Sqrt(length)
		for k := range v {
			v[k] = min(1, float32(4*float64(v[k])/length))
		}
		out = append(out, v)
	}
	return out, err
}

// values returns the features of all pictures, unrounded.
func (n *network) values(ctx context.Context, p Pictures) ([]float32, error) {
	if _, err := n.ready(p); err != nil {
		return nil, err
	}
	which := make([]int, p.Len())
	for i := range which {
		which[i] = i
	}
	out := make([]float32, p.Len()*n.width)
	return out, n.each(ctx, p, which, func(i int, values []float32) error { // each goroutine writes to places of its own
		copy(out[i*n.width:], values)
		return nil
	})
}

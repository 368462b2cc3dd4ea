package features

import (
	"context"
	"math"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

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

package pcl

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// describedSums is a classifier of sums without its tensors.
type describedSums struct {
	Classes []int `json:"classes"`
	Divide  int   `json:"divide"`
	Unit    bool  `json:"unit,omitempty"`
}

// Tensors of a classifier of sums: [columns, classes], [classes] and, if there is one, the
// projection [features, columns].
const (
	sumsWeights    = "sums/weights"
	sumsAdded      = "sums/added"
	sumsProjection = "sums/projection"
)

// tensorsOfSums returns the tensors and the description of a classifier of sums.
func tensorsOfSums(m *analytic.Map) ([]safetensors.Tensor, *describedSums) {
	var weights, added []float32
	for _, row := range append(slices.Clone(m.Weights), m.Added) {
		for _, v := range row {
			weights = append(weights, float32(v))
		}
	}
	weights, added = weights[:len(weights)-len(m.Classes)], weights[len(weights)-len(m.Classes):]
	all := []safetensors.Tensor{
		{Name: sumsWeights, Dims: []int{len(m.Weights), len(m.Classes)}, Values: weights},
		{Name: sumsAdded, Dims: []int{len(m.Classes)}, Values: added},
	}
	if m.Projection != nil {
		all = append(all, safetensors.Tensor{
			Name: sumsProjection, Dims: []int{len(m.Projection), len(m.Weights)}, Values: slices.Concat(m.Projection...),
		})
	}
	return all, &describedSums{m.Classes, m.Divide, m.Unit}
}

// takeSums takes a classifier of sums out of the tensors of a file.
func (t *Network) takeSums(d *describedSums) error {
	if d == nil {
		return nil
	}
	m := &analytic.Map{Classes: d.Classes, Divide: d.Divide, Unit: d.Unit}
	others, classes := t.Tensors[:0:0], len(d.Classes)
	for _, x := range t.Tensors {
		switch {
		case x.Name == sumsWeights && len(x.Dims) == 2 && x.Dims[1] == classes && classes > 0:
			for row := range slices.Chunk(x.Values, classes) {
				m.Weights = append(m.Weights, doubles(row))
			}
		case x.Name == sumsAdded && len(x.Values) == classes:
			m.Added = doubles(x.Values)
		case x.Name == sumsProjection && len(x.Dims) == 2 && x.Dims[1] > 0:
			m.Projection = slices.Collect(slices.Chunk(x.Values, x.Dims[1]))
		default:
			others = append(others, x)
		}
	}
	fits := m.Projection == nil || len(m.Projection[0]) == len(m.Weights)
	if m.Weights == nil || m.Added == nil || !fits || m.Divide < 1 {
		return fmt.Errorf(
			"its classifier of sums for %d classes lacks tensors that fit: want %s, %s and, if there is one, %s",
			classes, sumsWeights, sumsAdded, sumsProjection)
	}
	t.Tensors, t.Sums = others, m
	return nil
}

func doubles(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

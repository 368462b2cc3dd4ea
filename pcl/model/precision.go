package model

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// BFloat16 returns m with mixed precision. The factors and results of matrix products and
// convolutions, forward and backward, are rounded to bfloat16, which has 8 significant bits.
// Parameters, normalisation, losses and gradients stay in float32.
func BFloat16(m Model) Model {
	if m, ok := m.(mixed); ok {
		return m
	}
	return mixed{m}
}

type mixed struct{ Model }

func (m mixed) Key() string { return m.Model.Key() + "-bf16" }

func (m mixed) Forward(p Pass) Output {
	p.bfloat16 = true
	return m.Model.Forward(p)
}

// bilinear returns the bilinear function f in the precision of the pass.
func (p Pass) bilinear(f func(a, b *graph.Node) *graph.Node) func(a, b *graph.Node) *graph.Node {
	if !p.bfloat16 {
		return f
	}
	return func(a, b *graph.Node) *graph.Node {
		y := f(graph.ConvertDType(a, dtypes.BFloat16), graph.ConvertDType(b, dtypes.BFloat16))
		return graph.ConvertDType(y, a.DType())
	}
}

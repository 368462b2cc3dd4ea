package model

import (
	"fmt"
	"slices"
)

type mlp struct {
	plan
	hidden []int
}

// NewMLP returns fully connected layers of the given sizes with ReLU, followed by a linear
// classifier; without hidden layers it is the classifier alone. NewMLP(784, []int{128, 64}, 62),
// with the key "mlp-784-[128 64]-62", is the paper's network of PS-EMNIST (docs/protocol.md §2.2).
func NewMLP(inputs int, hidden []int, outputs int) (Model, error) {
	if inputs < 1 || outputs < 1 {
		return nil, fmt.Errorf("model: an MLP of %d inputs and %d outputs; both must be positive", inputs, outputs)
	}
	m := &mlp{plan{key: fmt.Sprintf("mlp-%d-%v-%d", inputs, hidden, outputs), inputs: inputs, outputs: outputs},
		slices.Clone(hidden)}
	width := inputs
	for i, h := range hidden {
		if h < 1 {
			return nil, fmt.Errorf("model: hidden layer %d has width %d", i+1, h)
		}
		m.layout.Add(fmt.Sprintf("dense%d/weights", i+1), width, h, width, h)
		m.layout.AddConstant(fmt.Sprintf("dense%d/bias", i+1), 0, h)
		width = h
	}
	m.layout.AddClassifier(width, outputs)
	if err := checkLayout(m.key, &m.layout); err != nil {
		return nil, err
	}
	return m, nil
}

// Forward maps pixels [B, inputs] to features [B, last hidden] and logits [B, outputs].
func (m *mlp) Forward(p Pass) Output {
	h := p.X
	for i := range m.hidden {
		h = ReLU(p.Dense(h, p.Params[2*i], p.Params[2*i+1]))
	}
	n := 2 * len(m.hidden)
	return Output{Features: h, Logits: p.Dense(h, p.Params[n], p.Params[n+1])}
}

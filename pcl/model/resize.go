package model

import "fmt"

// Resizer is a model that can be built with another number of outputs. Only the classifier, the
// parameters after Layout.Backbone, may depend on it, and the outputs must be the last dimension of
// each of these.
type Resizer interface {
	Model
	WithOutputs(n int) (Model, error)
}

// WithOutputs returns the same network with another number of outputs.
func (m *mlp) WithOutputs(n int) (Model, error) { return NewMLP(m.inputs, m.hidden, n) }

// WithOutputs returns the same network with another number of outputs.
func (m *resNet18) WithOutputs(n int) (Model, error) {
	c := m.config
	c.Outputs = n
	return NewResNet18(c)
}

// WithOutputs returns the same network with another number of outputs.
func (m mixed) WithOutputs(n int) (Model, error) {
	r, ok := m.Model.(Resizer)
	if !ok {
		return nil, fmt.Errorf("model: %s cannot be built with another number of outputs", m.Key())
	}
	inner, err := r.WithOutputs(n)
	return mixed{inner}, err
}

package model

import "fmt"

// Value stands for a result within a network that a [Builder] builds.
type Value string

// A Builder makes another form of a network than a graph, such as an ONNX file (package
// [github.com/parallelcl/parallelcl/pcl/onnx]), from the operations by which it predicts.
// Parameters and statistics are given by their indices in Layout.Params and Layout.Stats.
type Builder interface {
	// Dense maps x [B,I] to [B,O]: x·weights + bias.
	Dense(x Value, weights, bias int) Value
	ReLU(x Value) Value
	Add(a, b Value) Value
	// Images makes images of samples [B,height·width·channels], channels last.
	Images(x Value, height, width, channels int) Value
	// Convolution convolves images [B,H,W,I] with a kernel [k,k,I,O], with k/2 zeros around each.
	// bias is −1 if there is none.
	Convolution(x Value, weights, bias, stride int) Value
	// BatchNorm normalises each channel with the running statistics.
	BatchNorm(x Value, scale, shift, mean, variance int, epsilon float32) Value
	// MaxPool takes the maximum of each 2×2 window, with stride 2.
	MaxPool(x Value) Value
	// OverlappingMaxPool takes the maximum of the 3×3 pixels around every second one.
	OverlappingMaxPool(x Value) Value
	// AveragePool takes the mean over all pixels of each channel: [B,C].
	AveragePool(x Value) Value
}

// Buildable is a network that consists of the operations of a [Builder].
type Buildable interface {
	Model
	// Build does with b what Forward does with a graph, for a pass with running statistics.
	Build(b Builder, x Value) (features, logits Value)
}

// Build builds a network, or returns an error if it is not a [Buildable]. A network in mixed
// precision is built in float32.
func Build(m Model, b Builder, x Value) (features, logits Value, err error) {
	if inner, ok := m.(mixed); ok {
		m = inner.Model
	}
	n, ok := m.(Buildable)
	if !ok {
		return "", "",
			fmt.Errorf("model: %s does not say of which operations it consists: it does not implement model.Buildable "+
				"(Network.Save writes any network as safetensors)", m.Key())
	}
	features, logits = n.Build(b, x)
	return features, logits, nil
}

// Build builds the network.
func (m *mlp) Build(b Builder, x Value) (features, logits Value) {
	for i := range m.hidden {
		x = b.ReLU(b.Dense(x, 2*i, 2*i+1))
	}
	n := 2 * len(m.hidden)
	return x, b.Dense(x, n, n+1)
}

// Build builds the network.
func (m *resNet18) Build(b Builder, x Value) (features, logits Value) {
	x = b.Images(x, m.config.Height, m.config.Width, m.config.Channels)
	x = b.ReLU(m.stemNorm.build(b, m.stem.build(b, x)))
	if m.config.Stem == StemImageNet {
		x = b.OverlappingMaxPool(x)
	} else {
		x = b.MaxPool(x)
	}
	for _, block := range m.blocks {
		x = block.build(b, x)
	}
	x = b.AveragePool(x)
	return x, b.Dense(x, m.classifier, m.classifier+1)
}

func (b block) build(to Builder, x Value) Value {
	h := to.ReLU(b.norm1.build(to, b.conv1.build(to, x)))
	h = b.norm2.build(to, b.conv2.build(to, h))
	if b.release {
		h = to.ReLU(h)
	}
	if b.changes {
		x = b.normS.build(to, b.shortcut.build(to, x))
	}
	return to.ReLU(to.Add(h, x))
}

func (c convolution) build(b Builder, x Value) Value {
	return b.Convolution(x, c.weights, c.bias, c.stride)
}

func (n batchNorm) build(b Builder, x Value) Value {
	return b.BatchNorm(x, n.scale, n.shift, n.mean, n.variance, epsilon)
}

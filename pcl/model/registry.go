package model

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/names"
)

// Sizes describe the network to make: the shape of a sample, the number of outputs, and the
// network's own settings.
type Sizes struct {
	Height, Width, Channels int // of an image; a vector has one row, and one channel
	Outputs                 int
	Hidden                  []int // widths of an MLP's hidden layers
	StemChannels            int   // channels of a ResNet's stem and first stage; 0 stands for 64, as in the paper
	// Release follows the code that the paper's authors released: convolutions of a ResNet have
	// biases, and each block has an additional ReLU after its second normalisation, before the
	// addition.
	Release bool
	// Stem is the beginning of a ResNet: empty for that of small images, or [StemImageNet].
	Stem string
}

// StemImageNet is the stem of the published ResNets for large images: a 7×7 convolution and a 3×3
// maximum, both with stride 2.
const StemImageNet = "imagenet"

// Inputs returns the number of values of a sample.
func (s Sizes) Inputs() int { return s.Height * s.Width * s.Channels }

var registry = names.Registry[func(Sizes) (Model, error)]{Kind: "model"}

func init() {
	Register("linear", func(s Sizes) (Model, error) { return NewMLP(s.Inputs(), nil, s.Outputs) })
	Register("mlp", func(s Sizes) (Model, error) { return NewMLP(s.Inputs(), s.Hidden, s.Outputs) })
	Register("resnet18", func(s Sizes) (Model, error) { return NewResNet18(s) })
}

// Register makes a network known under a name, to [New] and the command line. It panics if the name
// is empty or taken; a cell of a notebook that runs again replaces what it has registered.
func Register(name string, make func(Sizes) (Model, error)) {
	if make == nil {
		panic("model: Register needs a constructor")
	}
	registry.Add(name, make)
}

// Names returns the registered names in alphabetical order.
func Names() []string { return registry.Names() }

// New makes the network with the given name.
func New(name string, s Sizes) (Model, error) {
	make, err := registry.Find(name)
	if err != nil {
		return nil, err
	}
	m, err := make(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("model %s: %w", name, err)
	case m == nil:
		return nil, fmt.Errorf("model %s: its constructor returned none", name)
	case m.Inputs() != s.Inputs() || m.Outputs() != s.Outputs:
		return nil, fmt.Errorf("model %s: it has %d inputs and %d outputs, want %d and %d", name, m.Inputs(), m.Outputs(),
			s.Inputs(), s.Outputs)
	}
	return m, nil
}

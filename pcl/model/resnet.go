package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

type resNet18 struct {
	plan
	config     Sizes
	stem       convolution
	stemNorm   batchNorm
	blocks     []block
	classifier int // index of its weights in Layout.Params; its bias comes next
}

// NewResNet18 returns a ResNet-18. It has a stem, which is a 3×3 convolution and a 2×2 maximum, for
// images whose height and width are even, or the one that Sizes.Stem names, then four stages of two
// blocks each, then the mean over the pixels, and a linear classifier. Each stage except the first
// halves the sides of the image and doubles the channels. It is the paper's network for
// PS-CIFAR-100, with Sizes{Height: 32, Width: 32, Channels: 3, Outputs: 100}, and for
// PS-ImageNet-TINY (docs/protocol.md §2.2).
func NewResNet18(c Sizes) (Model, error) {
	if c.StemChannels == 0 {
		c.StemChannels = 64
	}
	switch {
	case c.Stem != "" && c.Stem != StemImageNet:
		return nil, fmt.Errorf("model: a ResNet-18 with the stem %q; want none, for small images, or %s",
			c.Stem, StemImageNet)
	case c.Height < 1 || c.Width < 1 || c.Stem == "" && (c.Height%2 != 0 || c.Width%2 != 0):
		return nil,
			fmt.Errorf("model: a ResNet-18 for images of %d×%d; both sides must be positive, and even without the stem %s",
				c.Height, c.Width, StemImageNet)
	case c.Channels < 1 || c.StemChannels < 1 || c.Outputs < 1:
		return nil, fmt.Errorf("model: a ResNet-18 of %d channels, base width %d and %d outputs; all must be positive",
			c.Channels, c.StemChannels, c.Outputs)
	}
	if n := entries(c.Height, c.Width, c.Channels); n > mostEntries {
		return nil, fmt.Errorf("model: a ResNet-18 for images of %.2g values; at most %d are accepted", n, mostEntries)
	}
	m := &resNet18{config: c, plan: plan{key: resnetKeyOf(c), inputs: c.Inputs(), outputs: c.Outputs}}
	l := &m.layout
	size, stride := 3, 1
	if c.Stem == StemImageNet {
		size, stride = 7, 2
	}
	m.stem = l.addConvolution("stem/conv", size, c.Channels, c.StemChannels, stride, c.Release)
	m.stemNorm = l.addBatchNorm("stem/norm", c.StemChannels)
	width := c.StemChannels
	for stage := range 4 {
		for i := range 2 {
			stride, out := 1, c.StemChannels<<stage
			if stage > 0 && i == 0 {
				stride = 2
			}
			m.blocks = append(m.blocks, l.addBlock(fmt.Sprintf("layer%d/%d", stage+1, i), width, out, stride, c.Release))
			width = out
		}
	}
	m.classifier = l.AddClassifier(width, c.Outputs)
	if err := checkLayout(m.key, l); err != nil {
		return nil, err
	}
	return m, nil
}

// resnetKeyOf is the name of the architecture, for example "resnet18-32x32x3-64-100" or
// "resnet18-64x64x3-64-200-release".
func resnetKeyOf(c Sizes) string {
	key := fmt.Sprintf("resnet18-%dx%dx%d-%d-%d", c.Height, c.Width, c.Channels, c.StemChannels, c.Outputs)
	if c.Release {
		key += "-release"
	}
	if c.Stem != "" {
		key += "-" + c.Stem
	}
	return key
}

// Forward maps pixels [B, H·W·C] to features [B, 8·Base] and logits [B, Outputs].
func (m *resNet18) Forward(p Pass) Output {
	var stats []*graph.Node
	if p.Running == nil {
		stats = make([]*graph.Node, len(m.layout.Stats))
	}
	h := lift(func(n *graph.Node) *graph.Node {
		return graph.Reshape(n, -1, m.config.Height, m.config.Width, m.config.Channels)
	}, p.X)
	h = ReLU(m.stemNorm.apply(p, stats, m.stem.apply(p, h)))
	if m.config.Stem == StemImageNet {
		h = OverlappingMaxPool(h)
	} else {
		h = MaxPool(h)
	}
	for _, b := range m.blocks {
		h = b.apply(p, stats, h)
	}
	h = AveragePool(h)
	return Output{Features: h, Logits: p.Dense(h, p.Params[m.classifier], p.Params[m.classifier+1]), Stats: stats}
}

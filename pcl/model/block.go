package model

import "github.com/gomlx/gomlx/core/graph"

// block is the basic residual block, ReLU(h + x): h is two 3×3 convolutions, each normalised, with
// a ReLU between; x is the input or, where the shape changes, a normalised 1×1 convolution of it.
type block struct {
	conv1, conv2, shortcut convolution
	norm1, norm2, normS    batchNorm
	changes                bool // whether the shape changes, so that the shortcut is a convolution
	// as in the released code: a ReLU also follows the second convolution's norm, and the
	// convolutions have biases (docs/protocol.md §2.2)
	release bool
}

func (l *Layout) addBlock(name string, in, out, stride int, release bool) block {
	b := block{changes: stride != 1 || in != out, release: release}
	b.conv1 = l.addConvolution(name+"/conv1", 3, in, out, stride, release)
	b.norm1 = l.addBatchNorm(name+"/norm1", out)
	b.conv2 = l.addConvolution(name+"/conv2", 3, out, out, 1, release)
	b.norm2 = l.addBatchNorm(name+"/norm2", out)
	if b.changes {
		b.shortcut = l.addConvolution(name+"/shortcut/conv", 1, in, out, stride, release)
		b.normS = l.addBatchNorm(name+"/shortcut/norm", out)
	}
	return b
}

func (b block) apply(p Pass, stats []*graph.Node, x Dual) Dual {
	h := ReLU(b.norm1.apply(p, stats, b.conv1.apply(p, x)))
	h = b.norm2.apply(p, stats, b.conv2.apply(p, h))
	if b.release {
		h = ReLU(h)
	}
	if b.changes {
		x = b.normS.apply(p, stats, b.shortcut.apply(p, x))
	}
	return ReLU(Sum(h, x))
}

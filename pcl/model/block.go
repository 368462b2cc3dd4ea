package model

import "github.com/gomlx/gomlx/core/graph"

// block is the basic residual block. It adds two branches: one of two 3×3 convolutions, each normalised, and a
// shortcut, which is the identity or, if the shape changes, a normalised 1×1 convolution.
type block struct {
	conv1, conv2, shortcut Convolution
	norm1, norm2, normS    BatchNorm
	changes                bool // whether the shape changes, so that the shortcut is a convolution
	release                bool
}

func (l *Layout) addBlock(name string, in, out, stride int, release bool) block {
	b := block{changes: stride != 1 || in != out, release: release}
	b.conv1 = l.AddConvolution(name+"/conv1", 3, in, out, stride, release)
	b.norm1 = l.AddBatchNorm(name+"/norm1", out)
	b.conv2 = l.AddConvolution(name+"/conv2", 3, out, out, 1, release)
	b.norm2 = l.AddBatchNorm(name+"/norm2", out)
	if b.changes {
		b.shortcut = l.AddConvolution(name+"/shortcut/conv", 1, in, out, stride, release)
		b.normS = l.AddBatchNorm(name+"/shortcut/norm", out)
	}
	return b
}

func (b block) apply(p Pass, stats []*graph.Node, x Dual) Dual {
	h := ReLU(b.norm1.Apply(p, stats, b.conv1.Apply(p, x)))
	h = b.norm2.Apply(p, stats, b.conv2.Apply(p, h))
	if b.release {
		h = ReLU(h)
	}
	if b.changes {
		x = b.normS.Apply(p, stats, b.shortcut.Apply(p, x))
	}
	return ReLU(Sum(h, x))
}

// Package glyphs generates a set of 62 characters (0-9, A-Z, a-z) as 28×28 grey images, white on black, from
// open fonts: a stand-in for EMNIST that needs no file and no network.
//
// Each image draws a font, bends and distorts the outline (affine map, smooth wobble), changes stroke weight
// and contrast, and adds neighbouring letters, stray strokes, gaps, blur, shading and noise. An image depends
// on (Seed, Difficulty, split, class, index) and nothing else, so any part of the set can be made by itself, in any order
// and on any number of cores. Train and test images come from the same fonts with different draws.
package glyphs

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"
)

const (
	Side  = 28          // height and width of an image
	Bytes = Side * Side // pixels of an image
	// Classes has one character per class, in the order of EMNIST ByClass.
	Classes = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// A Part says whether an image belongs to the training or the test images.
type Part uint8

const (
	Train Part = iota
	Test
)

// Config says which set to make. The zero value is the default set.
type Config struct {
	Seed          uint64
	TrainPerClass int     // 0 means 400
	TestPerClass  int     // 0 means 80
	Difficulty    float64 // 0 means 1; scales every distortion, at most 3; 0.01 is nearly clean print
}

// withDefaults panics if a number is out of range.
func (c Config) withDefaults() Config {
	c.TrainPerClass, c.TestPerClass = cmp.Or(c.TrainPerClass, 400), cmp.Or(c.TestPerClass, 80)
	c.Difficulty = cmp.Or(c.Difficulty, 1)
	const most = 100000
	if min(c.TrainPerClass, c.TestPerClass) < 0 || max(c.TrainPerClass, c.TestPerClass) > most || !(c.Difficulty > 0 && c.Difficulty <= 3) {
		panic(fmt.Sprintf("glyphs: %d training and %d test images per class of difficulty %v; want 1 to %d, and more than 0 and at most 3",
			c.TrainPerClass, c.TestPerClass, c.Difficulty, most))
	}
	return c
}

// Images are N images of 28×28 bytes, one after the other, and their class indices.
type Images struct {
	Pixels []uint8
	Labels []int32
}

// Generate makes the set on all cores, until ctx ends. Image i has class i mod 62: every 62 images hold each
// class once. It panics if the configuration is out of range.
func Generate(ctx context.Context, c Config) (train, test Images, err error) {
	c = c.withDefaults()
	if train, err = generate(ctx, c, Train, c.TrainPerClass); err == nil {
		test, err = generate(ctx, c, Test, c.TestPerClass)
	}
	return train, test, err
}

func generate(ctx context.Context, c Config, part Part, perClass int) (Images, error) {
	n := perClass * len(Classes)
	out := Images{Pixels: make([]uint8, n*Bytes), Labels: make([]int32, n)}
	workers := runtime.GOMAXPROCS(0)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			p := newPainter()
			for i := w; i < n && ctx.Err() == nil; i += workers {
				class := i % len(Classes)
				p.paint(out.Pixels[i*Bytes:(i+1)*Bytes], c, part, class, i/len(Classes))
				out.Labels[i] = int32(class)
			}
			return ctx.Err()
		})
	}
	return out, g.Wait()
}

// Render makes one image of the set: number index of a class, 28×28 bytes. The index may be any number from 0, also
// beyond the configured number per class. It panics if one of them is out of range.
func Render(c Config, part Part, class, index int) []uint8 {
	if part > Test || class < 0 || class >= len(Classes) || index < 0 {
		panic(fmt.Sprintf("glyphs: part %d, class %d, index %d; want part Train or Test, class 0 to %d, index ≥ 0", part, class, index, len(Classes)-1))
	}
	dst := make([]uint8, Bytes)
	newPainter().paint(dst, c.withDefaults(), part, class, index)
	return dst
}

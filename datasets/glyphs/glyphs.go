// Package glyphs generates a set of 62 characters (0-9, A-Z, a-z) as 28×28 grey images, white on
// black, from open fonts: a stand-in for EMNIST that needs no file and no network.
//
// Each image draws a font, bends and distorts the outline (affine map, smooth wobble), changes
// stroke weight and contrast, and adds neighbouring letters, stray strokes, gaps, blur, shading and
// noise. An image depends on (Seed, Difficulty, split, class, index) and nothing else: it is the
// same on any number of cores, and when there are more. Train and test images come from the same
// fonts with different draws.
package glyphs

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"
)

const (
	side   = 28 // height and width of an image
	pixels = side * side
	// Classes has one character per class, in the order of EMNIST ByClass.
	Classes = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
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
	if min(c.TrainPerClass, c.TestPerClass) < 0 || max(c.TrainPerClass, c.TestPerClass) > most ||
		!(c.Difficulty > 0 && c.Difficulty <= 3) {
		panic(fmt.Sprintf("glyphs: %d training and %d test images per class of difficulty %v; want 1 to %d, and more "+
			"than 0 and at most 3", c.TrainPerClass, c.TestPerClass, c.Difficulty, most))
	}
	return c
}

// Images are N images of 28×28 bytes, one after the other, and their class indices.
type Images struct {
	Pixels []uint8
	Labels []int32
}

// Generate makes the set on all cores, until ctx ends. Image i has class i mod 62: every 62 images
// hold each class once. It panics if the configuration is out of range.
func Generate(ctx context.Context, c Config) (train, test Images, err error) {
	c = c.withDefaults()
	if train, err = generate(ctx, c, 0, c.TrainPerClass); err == nil {
		test, err = generate(ctx, c, 1, c.TestPerClass)
	}
	return train, test, err
}

// generate makes the images of a part: 0 for training, 1 for testing.
func generate(ctx context.Context, c Config, part uint8, perClass int) (Images, error) {
	n := perClass * len(Classes)
	out := Images{Pixels: make([]uint8, n*pixels), Labels: make([]int32, n)}
	workers := runtime.GOMAXPROCS(0)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			p := newPainter()
			for i := w; i < n && ctx.Err() == nil; i += workers {
				class := i % len(Classes)
				p.paint(out.Pixels[i*pixels:(i+1)*pixels], c, part, class, i/len(Classes))
				out.Labels[i] = int32(class)
			}
			return ctx.Err()
		})
	}
	return out, g.Wait()
}

// Package glyphs generates a set of 62 characters (0-9, A-Z, a-z) as 28×28 grey images, white on black, from
// open fonts: a stand-in for EMNIST that needs no file and no network.
//
// Each image draws a font, bends and distorts the outline (affine map, smooth wobble), changes stroke weight
// and contrast, and adds neighbouring letters, stray strokes, gaps, blur, shading and noise. An image depends
// on (Seed, Difficulty, split, class, index) and nothing else, so any part of the set can be made by itself, in any order
// and on any number of cores. Train and test images come from the same fonts with different draws.
package glyphs

import (
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

func (c Config) withDefaults() (Config, error) {
	if c.TrainPerClass == 0 {
		c.TrainPerClass = 400
	}
	if c.TestPerClass == 0 {
		c.TestPerClass = 80
	}
	if c.Difficulty == 0 {
		c.Difficulty = 1
	}
	const most = 100000
	if c.TrainPerClass < 0 || c.TestPerClass < 0 || c.TrainPerClass > most || c.TestPerClass > most {
		return c, fmt.Errorf("glyphs: %d training and %d test images per class: want 1 to %d", c.TrainPerClass, c.TestPerClass, most)
	}
	if !(c.Difficulty > 0 && c.Difficulty <= 3) {
		return c, fmt.Errorf("glyphs: difficulty %v: want more than 0, at most 3", c.Difficulty)
	}
	return c, nil
}

// Images are N images of 28×28 bytes, one after the other, and their class indices.
type Images struct {
	Pixels []uint8
	Labels []int32
}

// Generate makes the set on all cores. Image i has class i mod 62: every 62 images hold each
// class once.
func Generate(ctx context.Context, c Config) (train, test Images, err error) {
	c, err = c.withDefaults()
	if err != nil {
		return Images{}, Images{}, err
	}
	if train, err = generate(ctx, c, Train, c.TrainPerClass); err != nil {
		return Images{}, Images{}, err
	}
	if test, err = generate(ctx, c, Test, c.TestPerClass); err != nil {
		return Images{}, Images{}, err
	}
	return train, test, nil
}

func generate(ctx context.Context, c Config, part Part, perClass int) (Images, error) {
	n := perClass * len(Classes)
	out := Images{Pixels: make([]uint8, n*Bytes), Labels: make([]int32, n)}
	fonts, err := loadFonts()
	if err != nil {
		return Images{}, err
	}
	workers := runtime.GOMAXPROCS(0)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			p := newPainter(fonts)
			for i := w; i < n; i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				class := i % len(Classes)
				p.paint(out.Pixels[i*Bytes:(i+1)*Bytes], c, part, class, i/len(Classes))
				out.Labels[i] = int32(class)
			}
			return nil
		})
	}
	return out, g.Wait()
}

// Render makes one image of the set: number index of a class, 28×28 bytes. The index may be any number, also
// beyond the configured number per class.
func Render(c Config, part Part, class, index int) ([]uint8, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if part > Test || class < 0 || class >= len(Classes) || index < 0 {
		return nil, fmt.Errorf("glyphs: part %d, class %d, index %d: want part Train or Test, class 0 to %d, index ≥ 0", part, class, index, len(Classes)-1)
	}
	fonts, err := loadFonts()
	if err != nil {
		return nil, err
	}
	dst := make([]uint8, Bytes)
	newPainter(fonts).paint(dst, c, part, class, index)
	return dst, nil
}

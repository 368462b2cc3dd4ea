package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/datasets"
)

// The ways in which the key augment changes pictures, in the order in which they are done.
const (
	flip = "flip"
	crop = "crop"
)

// ways are those that a text such as "flip,crop" names, in the order in which they are done.
func ways(text string) (all []string, err error) {
	if text == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if name != flip && name != crop || slices.Contains(all, name) {
			return nil, fmt.Errorf("augment %q; want flip, crop, or flip,crop", text)
		}
		all = append(all, name)
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all, nil
}

func (c Config) checkAugment() error {
	all, err := ways(c.Augment)
	if err == nil && len(all) > 0 && c.Features != "" {
		return fmt.Errorf("augment changes pixels, and the run is on features, which have %s:flips=true instead",
			c.spec().Backbone)
	}
	return err
}

// augment returns what changes each sample before a step trains on it; nil if nothing does.
func (c Config) augment(d *datasets.Dataset) (func(*rand.Rand, []float32), error) {
	all, err := ways(c.Augment)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if d.Vector > 0 {
		return nil, fmt.Errorf("pcl: augment changes pictures, and %s has vectors: leave it out", d.Name)
	}
	height, width, channels := d.Height, d.Width, d.Channels
	before := make([]float32, height*width*channels)
	return func(rng *rand.Rand, x []float32) {
		if slices.Contains(all, flip) && rng.IntN(2) == 1 {
			mirror(x[:len(before)], width, channels)
		}
		if slices.Contains(all, crop) {
			down, right := shift(rng, height), shift(rng, width)
			copy(before, x)
			move(x, before, height, width*channels, down, right*channels)
		}
	}, nil
}

// mirror exchanges left and right of a picture.
func mirror(x []float32, width, channels int) {
	for row := range slices.Chunk(x, width*channels) {
		for i, j := 0, len(row)-channels; i < j; i, j = i+channels, j-channels {
			for c := range channels {
				row[i+c], row[j+c] = row[j+c], row[i+c]
			}
		}
	}
}

// shift draws by how many pixels a picture is moved along a side: up to an eighth of it, as 4 of
// 32.
func shift(rng *rand.Rand, side int) int {
	most := side / 8
	return rng.IntN(2*most+1) - most
}

// move writes a picture to x, moved down and to the right by so many rows and values. Zeros come in
// at the edges.
func move(x, from []float32, rows, wide, down, right int) {
	for r := range rows {
		row := x[r*wide : (r+1)*wide]
		clear(row)
		if r-down < 0 || r-down >= rows {
			continue
		}
		source := from[(r-down)*wide : (r-down+1)*wide]
		copy(row[max(0, right):], source[max(0, -right):])
	}
}

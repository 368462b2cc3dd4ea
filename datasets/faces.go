package datasets

import (
	"image"
	"image/color"
	"math"
	"slices"
)

// faces are how training samples look on a contact sheet.
type faces struct {
	set           *Dataset
	height, width int
	low, high     float32 // of numbers: what is black, and what is white
}

func facesOf(d *Dataset) *faces {
	f := &faces{set: d, height: d.Height, width: d.Width, high: 1}
	if d.Vector > 0 {
		f.width = int(math.Ceil(math.Sqrt(float64(d.Vector))))
		f.height = (d.Vector + f.width - 1) / f.width
		if d.Train.Values != nil {
			f.low, f.high = slices.Min(d.Train.Values), slices.Max(d.Train.Values)
		}
	}
	return f
}

// draw draws training sample i, each of its pixels as a square of the given side.
func (f *faces) draw(dst *image.RGBA, at image.Point, i, side int) {
	for y := range f.height * side {
		for x := range f.width * side {
			if c, ok := f.colour(i, y/side*f.width+x/side); ok {
				dst.SetRGBA(at.X+x, at.Y+y, c)
			}
		}
	}
}

// colour returns the colour of a pixel of sample i; a vector has fewer values than its square.
func (f *faces) colour(i, pixel int) (color.RGBA, bool) {
	d, channels := f.set, max(1, f.set.Channels)
	if (pixel+1)*channels > d.ImageSize() {
		return color.RGBA{}, false
	}
	at := i*d.ImageSize() + pixel*channels
	grey := f.level(at)
	if channels == 3 {
		return color.RGBA{grey, f.level(at + 1), f.level(at + 2), 255}, true
	}
	return color.RGBA{grey, grey, grey, 255}, true
}

// level is a value as a byte. Images of numbers are black at 0 and white at 1.
func (f *faces) level(at int) uint8 {
	if s := &f.set.Train; s.Values == nil {
		return s.Pixels[at]
	} else if f.high > f.low {
		share := (float64(s.Values[at]) - float64(f.low)) / (float64(f.high) - float64(f.low))
		return uint8(math.Round(255 * min(max(share, 0), 1)))
	}
	return 0
}

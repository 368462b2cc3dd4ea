package datasets

import (
	"image"
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

// picture returns training sample i. A vector has fewer values than its square, the rest of which
// is transparent.
func (f *faces) picture(i int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, f.width, f.height))
	size, channels := f.set.ImageSize(), max(1, f.set.Channels)
	for at := range size / channels {
		pixel := img.Pix[4*at : 4*at+4]
		for k := range 3 {
			pixel[k] = f.level(i*size + at*channels + k%channels)
		}
		pixel[3] = 255
	}
	return img
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

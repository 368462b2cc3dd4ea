package viz

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// EditedImage is a stored image before and after memory editing. The slices hold H·W·C values, row
// by row, with the channels last.
type EditedImage struct {
	Label    string    // below the image, for example its class
	H, W, C  int       // C is 1 (grey) or 3 (RGB)
	Before   []float32 // pixels in [0, 1]
	Gradient []float32 // ∇ₓφ, the edit gradient, of any scale
	After    []float32 // pixels in [0, 1]
}

// EditedImages draws stored images from left to right. Below each image are its edit gradient
// |∇ₓφ|, scaled from its smallest to its largest value (the paper's Fig. 6), the edited image, and
// the change: darker and brighter pixels in two colours, up to the largest change, which is
// printed. It must show where the edits go.
func EditedImages(images ...EditedImage) (*Figure, error) {
	m := Matrix{Rows: []string{"stored", "edit gradient", "edited", "change"}} // its cells are empty
	data := Table{Head: []string{"image", "label", "largest_change"}}
	var drawn [][]image.Image // by column
	for i := range images {
		it := &images[i]
		it.check()
		change, largest := it.change()
		column := fmt.Sprintf("%s\n±%.2g", it.Label, largest)
		if largest == 0 {
			column = it.Label + "\nno change"
		}
		m.Columns = append(m.Columns, column)
		data.Add(i+1, it.Label, largest)
		drawn = append(drawn, []image.Image{it.picture(pixels(it.Before)), it.picture(it.stretched()),
			it.picture(pixels(it.After)), change})
	}
	p := NewBarePlot("", "", "")
	p.AddMatrix(&m)
	p.Add(Sketch(func(c Pen) {
		for j, column := range drawn {
			for i, img := range column {
				drawImage(c, img, c.At(float64(j), float64(len(column)-1-i)), c.At(0.5, 0.5).Sub(c.At(-0.5, -0.5)))
			}
		}
	}))
	cell := min((DefaultWidth-80)/vg.Length(len(images)), 110) // square, as far as the page's width goes
	return NewFigure(Figure{Name: "edited-images", Data: data, Height: 4*cell + 40,
		Width: min(DefaultWidth, vg.Length(len(images))*cell+90),
		Key: []KeyEntry{Swatch("darker", Diverging(-1)), Swatch("brighter", Diverging(1)),
			{Label: "±: largest change of a pixel"}},
		Alt: fmt.Sprintf("%s, their edit gradients, the images after editing, and the changes.",
			plural.Of(len(images), "stored image")),
	}, []*Plot{p})
}

// drawImage draws an image at a place, as large as a cell allows.
func drawImage(c Pen, img image.Image, at, cell vg.Point) {
	size := img.Bounds().Size()
	unit := min((cell.X-3)/vg.Length(size.X), (cell.Y-3)/vg.Length(size.Y)) / 2
	half := vg.Point{X: unit * vg.Length(size.X), Y: unit * vg.Length(size.Y)}
	c.DrawPixels(vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}, img)
}

func pixels(values []float32) func(int) float64 {
	return func(k int) float64 { return float64(values[k]) }
}

// check panics if the slices do not fit the shape.
func (m *EditedImage) check() {
	n := m.H * m.W * m.C
	if m.C != 1 && m.C != 3 || n == 0 || len(m.Before) != n || len(m.Gradient) != n || len(m.After) != n {
		panic(fmt.Sprintf("viz: an image of %d×%d×%d has %d, %d and %d values; want 1 or 3 channels, and a value for each",
			m.H, m.W, m.C, len(m.Before), len(m.Gradient), len(m.After)))
	}
}

// stretched maps |∇ₓφ| linearly from its smallest to its largest value onto [0, 1].
func (m *EditedImage) stretched() func(int) float64 {
	low, high := math.Inf(1), 0.0
	for _, g := range m.Gradient {
		a := math.Abs(float64(g))
		low, high = min(low, a), max(high, a)
	}
	return func(k int) float64 {
		if high == low {
			return 0
		}
		return (math.Abs(float64(m.Gradient[k])) - low) / (high - low)
	}
}

// picture turns values in [0, 1] into an image.
func (m *EditedImage) picture(value func(k int) float64) image.Image {
	level := func(k int) uint8 { return uint8(255*value(k) + 0.5) }
	if m.C == 1 { // a third of the bytes
		grey := image.NewGray(image.Rect(0, 0, m.W, m.H))
		for k := range grey.Pix {
			grey.Pix[k] = level(k)
		}
		return grey
	}
	img := image.NewNRGBA(image.Rect(0, 0, m.W, m.H))
	for i := range m.W * m.H {
		img.SetNRGBA(i%m.W, i/m.W, color.NRGBA{level(3 * i), level(3*i + 1), level(3*i + 2), 255})
	}
	return img
}

// changes are the colours of changes, so many that nobody sees steps between them.
var changes = func() (p color.Palette) {
	const half = 31
	for k := -half; k <= half; k++ {
		p = append(p, Diverging(float64(k)/half).Light)
	}
	return p
}()

// change colours how much brighter each pixel is after editing, its channels' mean.
func (m *EditedImage) change() (image.Image, float64) {
	diff := make([]float64, m.H*m.W)
	largest := 0.0
	for k := range m.Before {
		d := float64(m.After[k]) - float64(m.Before[k])
		largest = max(largest, math.Abs(d))
		diff[k/m.C] += d / float64(m.C)
	}
	img := image.NewPaletted(image.Rect(0, 0, m.W, m.H), changes)
	for pixel, d := range diff {
		img.Pix[pixel] = uint8(len(changes) / 2)
		if largest > 0 {
			img.Pix[pixel] = uint8(math.Round((1 + d/largest) / 2 * float64(len(changes)-1)))
		}
	}
	return img, largest
}

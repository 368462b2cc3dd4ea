package viz

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// EditedImage is a stored image and what memory editing does to it. The slices hold H·W·C values,
// row by row with channels last.
type EditedImage struct {
	Label    string    // below the image, for example its class
	H, W, C  int       // C is 1 (grey) or 3 (RGB)
	Before   []float32 // pixels in [0, 1]
	Gradient []float32 // ∇ₓφ, the edit gradient, of any scale
	After    []float32 // pixels in [0, 1]
}

// EditedImages draws stored images from the left to the right, and below each its edit gradient
// |∇ₓφ|, stretched per image from its smallest to its largest value (the paper's Fig. 6), the image
// after editing, and what has changed: darker pixels in one colour, brighter ones in another, up to the
// largest change, whose size stands below.
func EditedImages(t *Theme, images ...EditedImage) (*Figure, error) {
	if len(images) == 0 {
		return nil, errors.New("viz: no images to draw")
	}
	g := &imageGrid{theme: t, rows: []string{"stored", "edit gradient", "edited", "change"}}
	for i := range images {
		m := &images[i]
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("viz: image %d: %w", i+1, err)
		}
		change, largest := m.change(t)
		g.columns = append(g.columns, fmt.Sprintf("%s\n±%.2g", m.Label, largest))
		g.images = append(g.images, []image.Image{
			m.picture(func(k int) float64 { return float64(m.Before[k]) }),
			m.picture(m.stretched()),
			m.picture(func(k int) float64 { return float64(m.After[k]) }),
			change,
		})
	}
	p := t.newPlot("", "")
	g.addTo(p)
	alt := fmt.Sprintf("%d stored images, their edit gradients, the images after editing, and the changes.", len(images))
	f := newFigure(t, 0, alt, []*plot.Plot{p})
	// Square cells, as far as the page's width goes.
	cell := min((wide-80)/vg.Length(len(images)), 110)
	f.Height, f.shape = 4*cell+40, true
	f.Width = min(wide, vg.Length(len(images))*cell+90)
	f.key = []keyEntry{t.swatchKey("darker", t.diverging(-1)), t.swatchKey("brighter", t.diverging(1)),
		{label: "±: largest change of a pixel"}}
	return f, nil
}

func (m *EditedImage) check() error {
	if m.H < 1 || m.W < 1 || m.C != 1 && m.C != 3 {
		return fmt.Errorf("its shape is %d×%d×%d; want a height and width above 0 and 1 or 3 channels", m.H, m.W, m.C)
	}
	n := m.H * m.W * m.C
	for _, part := range []struct {
		name   string
		values []float32
		pixels bool
	}{{"Before", m.Before, true}, {"Gradient", m.Gradient, false}, {"After", m.After, true}} {
		if len(part.values) != n {
			return fmt.Errorf("%s has %d values; %d×%d×%d are %d", part.name, len(part.values), m.H, m.W, m.C, n)
		}
		for _, v := range part.values {
			if !finite(float64(v)) || part.pixels && !fraction(float64(v)) {
				return fmt.Errorf("%s holds %v; want finite values, pixels in [0, 1]", part.name, v)
			}
		}
	}
	return nil
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
	return m.paint(func(pixel int) color.NRGBA {
		c := color.NRGBA{A: 255}
		for i, channel := range []*uint8{&c.R, &c.G, &c.B} {
			*channel = uint8(255*value(pixel*m.C+i%m.C) + 0.5)
		}
		return c
	})
}

// change colours how much brighter each pixel is after editing, its channels' mean.
func (m *EditedImage) change(t *Theme) (image.Image, float64) {
	diff := make([]float64, m.H*m.W)
	largest := 0.0
	for k := range m.Before {
		d := float64(m.After[k]) - float64(m.Before[k])
		largest = max(largest, math.Abs(d))
		diff[k/m.C] += d / float64(m.C)
	}
	return m.paint(func(pixel int) color.NRGBA {
		if largest == 0 {
			return t.diverging(0)
		}
		return t.diverging(diff[pixel] / largest)
	}), largest
}

// zoom is how many pixels a pixel is drawn with, so that readers show its edges.
const zoom = 6

func (m *EditedImage) paint(pixel func(int) color.NRGBA) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, zoom*m.W, zoom*m.H))
	for y := range zoom * m.H {
		for x := range zoom * m.W {
			img.SetNRGBA(x, y, pixel(y/zoom*m.W+x/zoom))
		}
	}
	return img
}

// imageGrid draws images in named rows and columns, each as large as its cell allows.
type imageGrid struct {
	theme         *Theme
	rows, columns []string
	images        [][]image.Image // by column, then row
}

func (g *imageGrid) addTo(p *plot.Plot) {
	m := matrix{theme: g.theme, rows: g.rows, columns: g.columns}
	m.addTo(p) // its cells are empty
	p.Add(g)
}

func (g *imageGrid) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for j, column := range g.images {
		for i, img := range column {
			x, y := trX(float64(j)), trY(float64(len(g.rows)-1-i))
			width, height := trX(0.5)-trX(-0.5)-vg.Points(3), trY(0.5)-trY(-0.5)-vg.Points(3)
			size := img.Bounds().Size()
			unit := min(width/vg.Length(size.X), height/vg.Length(size.Y)) / 2
			half := vg.Point{X: unit * vg.Length(size.X), Y: unit * vg.Length(size.Y)}
			at := vg.Point{X: x, Y: y}
			c.DrawImage(vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}, img)
		}
	}
}

package viz

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
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

// EditedImages draws stored images from left to right. Below each are its edit gradient |∇ₓφ|, stretched from its smallest to its
// largest value (the paper's Fig. 6), the image after editing, and the change, darker and brighter pixels in two colours up to
// the largest change, which is printed. It must show where the edits go: the outline of the strokes, pixels of the smoothed image
// brighter than half-way between its darkest and brightest, lies over the gradient and the change; printed are the part of the
// change on the strokes and their part of the area.
func EditedImages(t *Theme, images ...EditedImage) (*Figure, error) {
	g := imageGrid{rows: []string{"stored", "edit gradient", "edited", "change"}}
	data := Table{Head: []string{"image", "label", "largest_change", "share_of_change_on_strokes", "share_of_area_on_strokes"}}
	for i := range images {
		m := &images[i]
		m.check()
		change, largest := m.change(t)
		strokes := m.strokes()
		on, area := m.changeOn(strokes), share(strokes)
		column := fmt.Sprintf("%s\n±%.2g\n%.0f %%\non %.0f %%", m.Label, largest, 100*on, 100*area)
		if largest == 0 {
			column = m.Label + "\nno change"
		}
		g.columns = append(g.columns, column)
		g.outlines = append(g.outlines, outlineOf(strokes, m.W))
		data.add(i+1, m.Label, largest, on, area)
		g.images = append(g.images, []image.Image{m.picture(pixels(m.Before)), m.picture(m.stretched()), m.picture(pixels(m.After)), change})
	}
	p := t.panel("", "", "")
	p.images(g)
	cell := min((wide-80)/vg.Length(len(images)), 110) // square, as far as the page's width goes
	return t.figure(layout{name: "edited-images", data: data, height: 4*cell + 64, width: min(wide, vg.Length(len(images))*cell+90),
		key: []keyEntry{t.swatchKey("darker", t.diverging(-1)), t.swatchKey("brighter", t.diverging(1)),
			{label: "the stroke's outline", line: t.line(t.outline(), 1)}, {label: "±: largest change of a pixel"},
			{label: "a % on b %: of the change, on strokes of so much area"}},
		alt: fmt.Sprintf("%d stored images, their edit gradients, the images after editing, and the changes.", len(images)),
	}, []*Plot{p})
}

func pixels(values []float32) func(int) float64 {
	return func(k int) float64 { return float64(values[k]) }
}

// check panics if the slices do not fit the shape.
func (m *EditedImage) check() {
	n := m.H * m.W * m.C
	if m.C != 1 && m.C != 3 || n == 0 || len(m.Before) != n || len(m.Gradient) != n || len(m.After) != n {
		panic(fmt.Sprintf("viz: an image of %d×%d×%d has %d, %d and %d values; want 1 or 3 channels, and a value for each", m.H, m.W, m.C, len(m.Before), len(m.Gradient), len(m.After)))
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

// strokes says which pixels are brighter than half-way between the darkest and the brightest of the stored
// image, smoothed over 3 × 3 pixels so that noise does not count.
func (m *EditedImage) strokes() []bool {
	smooth := make([]float64, m.H*m.W)
	low, high := math.Inf(1), math.Inf(-1)
	for k := range smooth {
		n := 0.0
		for y := max(0, k/m.W-1); y <= min(m.H-1, k/m.W+1); y++ {
			for x := max(0, k%m.W-1); x <= min(m.W-1, k%m.W+1); x++ {
				for c := range m.C {
					smooth[k] += float64(m.Before[(y*m.W+x)*m.C+c])
					n++
				}
			}
		}
		smooth[k] /= n
		low, high = min(low, smooth[k]), max(high, smooth[k])
	}
	out := make([]bool, len(smooth))
	for k, v := range smooth {
		out[k] = v > (low+high)/2
	}
	return out
}

func share(pixels []bool) float64 {
	n := 0.0
	for _, in := range pixels {
		if in {
			n++
		}
	}
	return n / float64(len(pixels))
}

// changeOn is the part of all change, in absolute value, that lies on some pixels; NaN without a change.
func (m *EditedImage) changeOn(pixels []bool) float64 {
	var on, all float64
	for k := range m.Before {
		d := math.Abs(float64(m.After[k]) - float64(m.Before[k]))
		all += d
		if pixels[k/m.C] {
			on += d
		}
	}
	return on / all
}

// outlineOf returns the edges between pixels inside and outside, from pixel corner to pixel corner.
func outlineOf(inside []bool, width int) [][2]image.Point {
	var out [][2]image.Point
	height := len(inside) / width
	at := func(x, y int) bool { return x >= 0 && x < width && y >= 0 && y < height && inside[y*width+x] }
	for y := range height + 1 {
		for x := range width + 1 {
			if at(x, y) != at(x-1, y) {
				out = append(out, [2]image.Point{{X: x, Y: y}, {X: x, Y: y + 1}})
			}
			if at(x, y) != at(x, y-1) {
				out = append(out, [2]image.Point{{X: x, Y: y}, {X: x + 1, Y: y}})
			}
		}
	}
	return out
}

// outline is seen on black, on white and on the colours of a change.
func (t *Theme) outline() color.NRGBA { return t.Hues[4] }

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

// imageGrid is images in named rows and columns, each as large as its cell allows.
type imageGrid struct {
	rows, columns []string
	images        [][]image.Image    // by column, then row
	outlines      [][][2]image.Point // by column
}

func (p *Plot) images(g imageGrid) {
	p.matrix(&matrix{rows: g.rows, columns: g.columns}) // its cells are empty
	p.sketch(func(c pen) {
		cell := c.at(0.5, 0.5).Sub(c.at(-0.5, -0.5)).Sub(vg.Point{X: vg.Points(3), Y: vg.Points(3)})
		for j, column := range g.images {
			for i, img := range column {
				size, at := img.Bounds().Size(), c.at(float64(j), rowY(len(g.rows), i))
				unit := min(cell.X/vg.Length(size.X), cell.Y/vg.Length(size.Y)) / 2
				half := vg.Point{X: unit * vg.Length(size.X), Y: unit * vg.Length(size.Y)}
				box := vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}
				c.DrawImage(box, img)
				if i%2 == 1 { // the gradient and the change
					c.outline(box, unit*2*zoom, g.outlines[j])
				}
			}
		}
	})
}

// outline draws the edges of pixels of a size over an image.
func (c pen) outline(box vg.Rectangle, pixel vg.Length, edges [][2]image.Point) {
	at := func(p image.Point) vg.Point {
		return vg.Point{X: box.Min.X + pixel*vg.Length(p.X), Y: box.Max.Y - pixel*vg.Length(p.Y)}
	}
	c.SetLineStyle(c.theme.line(c.theme.outline(), 0.7))
	var path vg.Path
	for _, e := range edges {
		path.Move(at(e[0]))
		path.Line(at(e[1]))
	}
	if len(path) > 0 {
		c.Stroke(path)
	}
}

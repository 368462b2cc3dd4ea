package viz

import (
	"image"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sketch is a plotter made of a function, for marks that no other plotter draws. The axes keep the
// ranges they have.
type Sketch func(Pen)

// Plot calls the function.
func (s Sketch) Plot(c draw.Canvas, p *plot.Plot) { s(NewPen(c, p)) }

// Pen draws on a plot: the canvas that gonum gives a plotter, and what the figures of this package
// need beside it.
type Pen struct {
	draw.Canvas
	X, Y func(float64) vg.Length // from a value on the axis to a place on the canvas
}

// NewPen returns a pen for the Plot method of a plotter, from its arguments.
func NewPen(c draw.Canvas, p *plot.Plot) Pen {
	x, y := p.Transforms(&c)
	return Pen{c, x, y}
}

// At returns the place of two values.
func (c Pen) At(x, y float64) vg.Point { return vg.Point{X: c.X(x), Y: c.Y(y)} }

// Describe names the series of what is drawn next, until the next call, and says something about
// it: pages show both under the pointer. Either may be empty.
func (c Pen) Describe(series, text string) { tagged(c.Canvas, tag{name: series, say: text}) }

// DrawSegment draws a line between two places.
func (c Pen) DrawSegment(s draw.LineStyle, a, b vg.Point) { c.StrokeLine2(s, a.X, a.Y, b.X, b.Y) }

// FillRectangle fills a rectangle between two opposite corners.
func (c Pen) FillRectangle(fill Color, a, b vg.Point) {
	c.FillPolygon(fill, []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}})
}

// DrawText writes a text that begins at its left middle, over a plate that covers the lines behind
// it.
func (c Pen) DrawText(sty text.Style, at vg.Point, s string) {
	size := sty.Rectangle(s).Size()
	plate := spanned(at.Sub(vg.Point{Y: size.Y / 2}), at.Add(vg.Point{X: size.X, Y: size.Y / 2}))
	c.SetColor(Background.Alpha(215))
	c.Fill(plate.Path())
	c.write(sty, at, s)
}

// write is Text without the plate.
func (c Pen) write(sty text.Style, at vg.Point, s string) {
	at.Y += lift
	c.FillText(sty, at, s)
}

// DrawPixels draws an image so that readers see the edges of its pixels.
func (c Pen) DrawPixels(r vg.Rectangle, img image.Image) {
	if sheetOf(c.Canvas) == nil { // pages show the edges themselves
		img = enlarged(img)
	}
	c.DrawImage(r, img)
}

// enlarged draws a pixel with several.
func enlarged(img image.Image) image.Image {
	const zoom = 6
	size := img.Bounds().Size()
	out := image.NewNRGBA(image.Rect(0, 0, zoom*size.X, zoom*size.Y))
	xdraw.NearestNeighbor.Scale(out, out.Rect, img, img.Bounds(), xdraw.Src, nil)
	return out
}

// rightRoom asks a plot for room on its right.
type rightRoom []vg.Length

// Plot draws nothing.
func (rightRoom) Plot(draw.Canvas, *plot.Plot) {}

// GlyphBoxes is the room.
func (r rightRoom) GlyphBoxes(*plot.Plot) (boxes []plot.GlyphBox) {
	for _, w := range r {
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: w}}})
	}
	return boxes
}

package viz

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/cmplx"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sheet is a canvas that records a drawing: what gonum draws on it becomes marks, in the groups of
// their series.
type sheet struct {
	drawing *drawing
	height  vg.Length
	part    *part
	tag     tag
	pen     sheetPen
	saved   []sheetPen
	painted map[Color]int
}

type sheetPen struct {
	width vg.Length
	dash  []vg.Length
	color int
	turn  complex128 // a point p lies at turn·p + at
	at    complex128
}

// tag names what is drawn until the next tag: a series with its values, or a mark that say
// explains. It is a plotter, so that it can stand between the plotters of a plot.
type tag struct {
	name, say string
	at        [][]float64 // x and y, and perhaps low and high
}

// Plot draws nothing.
func (t tag) Plot(c draw.Canvas, _ *plot.Plot) { tagged(c, t) }

// tagged sets the tag of a sheet; other canvases ignore it.
func tagged(c draw.Canvas, t tag) {
	if s := sheetOf(c); s != nil {
		s.tag = t
	}
}

// sheetOf returns the sheet below a canvas, which may be a crop of it, or nil.
func sheetOf(c vg.Canvas) *sheet {
	for {
		switch under := c.(type) {
		case *sheet:
			return under
		case draw.Canvas:
			c = under.Canvas
		default:
			return nil
		}
	}
}

func newSheet(d *drawing, height vg.Length) *sheet {
	return &sheet{drawing: d, height: height, painted: map[Color]int{}, pen: sheetPen{width: 1, turn: 1}}
}

// begin starts a part of the drawing, which occupies a box.
func (s *sheet) begin(p *part, box vg.Rectangle) {
	p.Box = s.box(box)
	s.part, s.tag = p, tag{}
}

// box is a rectangle as SVG has it: left, top, width and height.
func (s *sheet) box(r vg.Rectangle) [4]int {
	return [4]int{units(r.Min.X), units(s.height - r.Max.Y), units(r.Max.X - r.Min.X), units(r.Max.Y - r.Min.Y)}
}

func (s *sheet) SetLineWidth(w vg.Length)               { s.pen.width = w }
func (s *sheet) SetLineDash(d []vg.Length, _ vg.Length) { s.pen.dash = d }

func (s *sheet) Push() { s.saved = append(s.saved, s.pen) }
func (s *sheet) Pop()  { s.pen, s.saved = s.saved[len(s.saved)-1], s.saved[:len(s.saved)-1] }

func (s *sheet) Rotate(rad float64)    { s.pen.turn *= cmplx.Rect(1, rad) }
func (s *sheet) Translate(by vg.Point) { s.pen.at += s.pen.turn * complexOf(by) }
func (s *sheet) Scale(x, _ float64)    { s.pen.turn *= complex(x, 0) } // no plotter scales one axis alone

func complexOf(p vg.Point) complex128 { return complex(float64(p.X), float64(p.Y)) }

// SetColor takes a colour with its counterpart for dark screens.
func (s *sheet) SetColor(c color.Color) {
	pair := ColorOf(c)
	i, seen := s.painted[pair]
	if !seen {
		i = len(s.drawing.Colors)
		s.painted[pair] = i
		s.drawing.Colors = append(s.drawing.Colors, [2]string{hex(pair.Light), hex(pair.Dark)})
	}
	s.pen.color = i
}

// Fill records a filled path. A whole circle, the commonest marker, becomes a point of a round pen.
func (s *sheet) Fill(p vg.Path) {
	if d, isDot := dotOf(p); isDot {
		point := vg.Path{{Type: vg.MoveComp, Pos: d.Pos}, {Type: vg.LineComp, Pos: d.Pos}}
		s.add(mark{Color: s.pen.color, Width: float64(units(2 * d.Radius)), Dot: true}, point, p)
		return
	}
	s.add(mark{Color: s.pen.color}, p, p)
}

func (s *sheet) Stroke(p vg.Path) {
	if s.pen.width <= 0 {
		return
	}
	m := mark{Color: s.pen.color, Width: math.Round(float64(s.pen.width)*100) / 10}
	for _, l := range s.pen.dash {
		m.Dash = append(m.Dash, units(l))
	}
	s.add(m, p, p)
}

func (s *sheet) FillString(f font.Face, at vg.Point, text string) {
	if f.Font.Size == 0 {
		return
	}
	m := mark{Text: text, Color: s.pen.color, Size: units(f.Font.Size)}
	m.X, m.Y = s.place(at)
	m.Turn = -math.Round(cmplx.Phase(s.pen.turn) * 180 / math.Pi)
	middle := vg.Point{X: at.X + f.Width(text)/2, Y: at.Y}
	s.add(m, nil, vg.Path{{Type: vg.MoveComp, Pos: middle}})
}

func (s *sheet) DrawImage(r vg.Rectangle, img image.Image) {
	var b bytes.Buffer
	(&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img) // into memory
	size := r.Size()
	m := mark{Image: b.Bytes(), Size: units(size.X), Width: float64(units(size.Y))}
	m.X, m.Y = s.place(vg.Point{X: r.Min.X, Y: r.Max.Y})
	s.add(m, nil, r.Path())
}

// add keeps a mark, with its path if it has one, in the group of the current tag. The outline tells
// where it lies. Paths of one look become one mark.
func (s *sheet) add(m mark, path, outline vg.Path) {
	low, high := s.bounds(outline)
	wide, tall := high[0]-low[0], high[1]-low[1]
	if s.part == nil || wide < 0 || wide > farOut || tall > farOut { // it may lie at NaN or Inf
		return
	}
	background := path != nil && m.Width == 0 && wide > s.part.Box[2]*9/10 && tall > s.part.Box[3]*9/10
	if background { // a page has its own
		return
	}
	d := s.part.Data
	x, y := (low[0]+high[0])/2, (low[1]+high[1])/2
	inside := x >= d[0]-5 && x <= d[0]+d[2]+5 && y >= d[1]-5 && y <= d[1]+d[3]+5
	marks := &s.group(inside).Marks
	opaque := len(s.drawing.Colors[m.Color][0]) == len("#rrggbb")
	small := wide < 80 && tall < 80 // a marker, which may lie over others of its kind
	if k := len(*marks) - 1; path != nil && k >= 0 && (*marks)[k].joins(&m) && (small || opaque) {
		s.write(&(*marks)[k].Path, path)
		return
	}
	s.write(&m.Path, path)
	*marks = append(*marks, m)
}

// group returns the group of the current tag, inside of the data or not.
func (s *sheet) group(inside bool) *group {
	groups := &s.part.Groups
	if n := len(*groups); n == 0 || !(*groups)[n-1].goesOn(s.tag, inside) {
		g := group{Name: s.tag.name, Say: s.tag.say, values: s.part.reachable(s.tag.at), Inside: inside}
		s.tag.at = nil // the values stand once
		*groups = append(*groups, g)
	}
	return last(*groups)
}

// farOut is a coordinate, in units, that no drawing reaches; numbers that are not finite become it.
const farOut = 10_000_000

// bounds returns the corners of the box around a path's points.
func (s *sheet) bounds(p vg.Path) (low, high [2]int) {
	low, high = [2]int{2 * farOut, 2 * farOut}, [2]int{-2 * farOut, -2 * farOut}
	for _, c := range p {
		if c.Type == vg.CloseComp {
			continue
		}
		x, y := s.place(c.Pos)
		low, high = [2]int{min(low[0], x), min(low[1], y)}, [2]int{max(high[0], x), max(high[1], y)}
	}
	return low, high
}

// place returns where a point lies on the page, from the top left.
func (s *sheet) place(p vg.Point) (x, y int) {
	at := s.pen.turn*complexOf(p) + s.pen.at
	return units(vg.Length(real(at))), units(s.height - vg.Length(imag(at)))
}

// write adds a path, as it lies on the page, to one of SVG.
func (s *sheet) write(to *svgPath, p vg.Path) {
	to.add(p, func(p vg.Point) [2]int {
		x, y := s.place(p)
		return [2]int{x, y}
	})
}

// units returns a length in tenths of a point, the unit of drawings.
func units(x vg.Length) int {
	u := math.Round(10 * float64(x))
	if !(math.Abs(u) <= 2*farOut) {
		return 2 * farOut
	}
	return int(u)
}

// hex returns a colour as CSS writes it.
func hex(c color.NRGBA) string {
	return strings.TrimSuffix(fmt.Sprintf("#%02x%02x%02x%02x", c.R, c.G, c.B, c.A), "ff")
}

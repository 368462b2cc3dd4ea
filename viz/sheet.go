package viz

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/cmplx"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sheet is a canvas that makes a drawing of what is drawn on it. Coordinates are those of SVG, in points from the top
// left.
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

// tag names what is drawn until the next tag: a series with its values, or a mark of which say tells more. As a plotter it
// stands between those of a plot.
type tag struct {
	name, say string
	at        [][]float64 // x and y, and perhaps low and high
}

// Plot draws nothing.
func (t tag) Plot(c draw.Canvas, _ *plot.Plot) { tagged(c, t) }

// tagged is for canvases that know tags; others leave them out.
func tagged(c draw.Canvas, t tag) {
	if s := sheetOf(c); s != nil {
		s.tag = t
	}
}

// sheetOf is the sheet below a canvas, which may be cut out of others; nil if there is none.
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

// in begins a part of the drawing, which the box is cut out for.
func (s *sheet) in(p *part, box vg.Rectangle) {
	p.Box = s.box(box)
	s.part, s.tag = p, tag{}
}

func (s *sheet) box(r vg.Rectangle) [4]float64 {
	return [4]float64{tenth(r.Min.X), tenth(s.height - r.Max.Y), tenth(r.Max.X - r.Min.X), tenth(r.Max.Y - r.Min.Y)}
}

func newSheet(d *drawing, height vg.Length) *sheet {
	s := &sheet{drawing: d, height: height, painted: map[Color]int{}}
	s.pen = sheetPen{width: 1, turn: 1}
	return s
}

func (s *sheet) SetLineWidth(w vg.Length)               { s.pen.width = w }
func (s *sheet) SetLineDash(d []vg.Length, _ vg.Length) { s.pen.dash = d }
func (s *sheet) Push()                                  { s.saved = append(s.saved, s.pen) }
func (s *sheet) Pop()                                   { s.pen, s.saved = s.saved[len(s.saved)-1], s.saved[:len(s.saved)-1] }

func (s *sheet) Rotate(rad float64)    { s.pen.turn *= cmplx.Rect(1, rad) }
func (s *sheet) Translate(by vg.Point) { s.pen.at += s.pen.turn * complexOf(by) }
func (s *sheet) Scale(x, _ float64)    { s.pen.turn *= complex(x, 0) } // no plotter scales one axis alone
func complexOf(p vg.Point) complex128  { return complex(float64(p.X), float64(p.Y)) }

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

func (s *sheet) Fill(p vg.Path) {
	if d, isDot := dotOf(p); isDot {
		s.add(mark{Path: s.path(vg.Path{{Type: vg.MoveComp, Pos: d.Pos}, {Type: vg.LineComp, Pos: d.Pos}}), Color: s.pen.color, Width: tenth(2 * d.Radius), Dot: true}, p)
		return
	}
	s.add(mark{Path: s.path(p), Color: s.pen.color}, p)
}

func (s *sheet) Stroke(p vg.Path) {
	if s.pen.width <= 0 {
		return
	}
	m := mark{Path: s.path(p), Color: s.pen.color, Width: hundredth(s.pen.width)}
	for _, l := range s.pen.dash {
		m.Dash = append(m.Dash, tenth(l))
	}
	s.add(m, p)
}

func (s *sheet) FillString(f font.Face, at vg.Point, text string) {
	if f.Font.Size == 0 {
		return
	}
	m := mark{Text: text, Color: s.pen.color, Size: tenth(f.Font.Size)}
	m.X, m.Y = s.place(at)
	m.Turn = -math.Round(cmplx.Phase(s.pen.turn) * 180 / math.Pi)
	s.add(m, vg.Path{{Type: vg.MoveComp, Pos: vg.Point{X: at.X + f.Width(text)/2, Y: at.Y}}})
}

func (s *sheet) DrawImage(r vg.Rectangle, img image.Image) {
	var b bytes.Buffer
	(&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img) // into memory
	m := mark{Image: b.Bytes(), Size: tenth(r.Max.X - r.Min.X), Width: tenth(r.Max.Y - r.Min.Y)}
	m.X, m.Y = s.place(vg.Point{X: r.Min.X, Y: r.Max.Y})
	s.add(m, r.Path())
}

// add keeps a mark in the group of its tag and area. Those of one look join.
func (s *sheet) add(m mark, shape vg.Path) {
	low, high := s.bounds(shape)
	wide, tall := high[0]-low[0], high[1]-low[1]
	if s.part == nil || !(wide < 1e6 && tall < 1e6) { // NaN, Inf
		return
	}
	if m.Path != "" && m.Width == 0 && wide > 0.9*s.part.Box[2] && tall > 0.9*s.part.Box[3] {
		return // the background, which is that of the page
	}
	d := s.part.Data
	x, y := (low[0]+high[0])/2, (low[1]+high[1])/2
	inside := x >= d[0]-0.5 && x <= d[0]+d[2]+0.5 && y >= d[1]-0.5 && y <= d[1]+d[3]+0.5
	n := len(s.part.Groups) - 1
	if n < 0 || !s.part.Groups[n].goesOn(s.tag, inside) {
		s.part.Groups = append(s.part.Groups, group{Name: s.tag.name, Say: s.tag.say, At: s.part.thinnedOut(s.tag.at), Inside: inside})
		s.tag.at = nil // the values stand once
		n++
	}
	marks := &s.part.Groups[n].Marks
	small := wide < 8 && tall < 8 // a marker, which may lie over others of its kind
	if k := len(*marks) - 1; k >= 0 && (*marks)[k].joins(&m) && (small || len(s.drawing.Colors[m.Color][0]) == len("#rrggbb")) {
		(*marks)[k].Path += m.Path
		return
	}
	*marks = append(*marks, m)
}

// bounds is around the points of a path.
func (s *sheet) bounds(p vg.Path) (low, high [2]float64) {
	low, high = [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, c := range p {
		if c.Type == vg.CloseComp {
			continue
		}
		x, y := s.place(c.Pos)
		low, high = [2]float64{min(low[0], x), min(low[1], y)}, [2]float64{max(high[0], x), max(high[1], y)}
	}
	return low, high
}

// place is where a point comes to lie.
func (s *sheet) place(p vg.Point) (x, y float64) {
	at := s.pen.turn*complexOf(p) + s.pen.at
	return tenth(vg.Length(real(at))), tenth(s.height - vg.Length(imag(at)))
}

// path writes a path as SVG does, in steps from point to point, which take fewer bytes. Points that are where the last one is, to
// a tenth, are left out.
func (s *sheet) path(p vg.Path) string {
	p = plainer(p)
	w := pathWriter{sheet: s}
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			w.put('M', c.Pos)
		case vg.LineComp:
			if w.tenths(c.Pos) != w.last || len(p) == 2 {
				w.put('l', c.Pos)
			}
		case vg.ArcComp:
			for _, cubic := range cubics(c) {
				w.put('c', cubic[:]...)
			}
		case vg.CurveComp:
			if len(c.Control) == 1 { // a parabola
				w.put('q', c.Control[0], c.Pos)
			} else {
				w.put('c', c.Control[0], c.Control[1], c.Pos)
			}
		case vg.CloseComp:
			w.text, w.command = append(w.text, 'Z'), 'Z'
		}
	}
	return string(w.text)
}

// pathWriter writes the text of a path. A command that is the same as the one before needs no letter.
type pathWriter struct {
	*sheet
	text    []byte
	command byte
	last    [2]int // where the pen is, in tenths
}

func (w *pathWriter) tenths(p vg.Point) [2]int {
	x, y := w.place(p)
	return [2]int{int(math.Round(10 * x)), int(math.Round(10 * y))}
}

// put adds a command. Its points are where they are after M, and else as far as they are from the pen.
func (w *pathWriter) put(command byte, points ...vg.Point) {
	follows := command == w.command && command != 'M'
	if !follows {
		w.text, w.command = append(w.text, command), command
	}
	var from, to [2]int
	if command != 'M' {
		from = w.last
	}
	for _, p := range points {
		to = w.tenths(p)
		for k := range to {
			number := strconv.FormatFloat(float64(to[k]-from[k])/10, 'f', -1, 64)
			if follows && number[0] != '-' {
				w.text = append(w.text, ' ')
			}
			w.text, follows = append(w.text, number...), true
		}
	}
	w.last = to
}

// plainer leaves out the points of lines that no eye misses.
func plainer(p vg.Path) (out vg.Path) {
	from := 0 // the last one that stays
	for i, c := range p {
		within := i > 0 && i+1 < len(p) && c.Type == vg.LineComp && p[i+1].Type == vg.LineComp
		if within && i-from < 100 && straight(p[from:i+2]) {
			continue
		}
		out, from = append(out, c), i
	}
	return out
}

// straight says whether points lie between the first and the last of them, to a tenth.
func straight(p vg.Path) bool {
	first, last := p[0].Pos, p[len(p)-1].Pos
	along := last.Sub(first)
	for _, c := range p[1 : len(p)-1] {
		at := c.Pos.Sub(first)
		share := at.Dot(along) / along.Dot(along) // NaN where the two are one
		if off := at.Sub(along.Scale(share)); !(share >= 0 && share <= 1 && off.Dot(off) < 0.01) {
			return false
		}
	}
	return true
}

// cubics are an arc as curves of at most a right angle each, which no eye tells from it.
func cubics(c vg.PathComp) (out [][3]vg.Point) {
	n := int(math.Ceil(math.Abs(c.Angle)/(math.Pi/2) - 1e-9))
	step := c.Angle / float64(n)
	k := vg.Length(4 / 3. * math.Tan(step/4))
	on := func(angle float64) (at, along vg.Point) {
		sin, cos := math.Sincos(angle)
		r := vg.Point{X: c.Radius * vg.Length(cos), Y: c.Radius * vg.Length(sin)}
		return c.Pos.Add(r), vg.Point{X: -k * r.Y, Y: k * r.X}
	}
	for i := range n {
		a, from := on(c.Start + float64(i)*step)
		b, to := on(c.Start + float64(i+1)*step)
		out = append(out, [3]vg.Point{a.Add(from), b.Sub(to), b})
	}
	return out
}

// dotOf is the whole circle that a path is: the commonest marker, which SVG writes as a point of a thick round pen.
func dotOf(p vg.Path) (vg.PathComp, bool) {
	if len(p) == 3 && p[0].Type == vg.MoveComp && p[1].Type == vg.ArcComp && p[2].Type == vg.CloseComp && p[1].Angle >= 2*math.Pi-1e-9 {
		return p[1], true
	}
	return vg.PathComp{}, false
}

// thinnedOut keeps the values that a pointer can reach and tell apart: not those off the axes, or within three points of the last.
func (p *part) thinnedOut(at [][]float64) (out [][]float64) {
	var lastX, lastY float64
	for i, v := range at {
		shareX, shareY := p.X.share(v[0]), p.Y.share(v[1])
		x, y := p.Data[2]*shareX, p.Data[3]*shareY
		off := min(shareX, shareY) < -0.01 || max(shareX, shareY) > 1.01
		if near := math.Hypot(x-lastX, y-lastY) < 3; off || near && len(out) > 0 && i < len(at)-1 {
			continue
		}
		v, lastX, lastY = slices.Clone(v), x, y
		for k := range v {
			v[k] = []axis{p.X, p.Y}[min(k, 1)].rounded(v[k])
		}
		out = append(out, v)
	}
	return out
}

// share is how far along the axis a value lies.
func (a axis) share(v float64) float64 {
	if a.Kind == "log" {
		return math.Log(v/a.Min) / math.Log(a.Max/a.Min)
	}
	return (v - a.Min) / (a.Max - a.Min)
}

// rounded keeps the four digits of a value that readers see, and more where these would move it on the axis.
func (a axis) rounded(v float64) float64 {
	finest := math.Floor(math.Log10(max(a.Max-a.Min, 1e-300) / 5000))
	digits := max(4, math.Floor(math.Log10(math.Abs(v)))-finest+1)
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', int(min(digits, 17)), 64), 64)
	return v
}

func tenth(x vg.Length) float64     { return math.Round(10*float64(x)) / 10 }
func hundredth(x vg.Length) float64 { return math.Round(100*float64(x)) / 100 }

// hex is a colour as CSS writes it.
func hex(c color.NRGBA) string {
	return strings.TrimSuffix(fmt.Sprintf("#%02x%02x%02x%02x", c.R, c.G, c.B, c.A), "ff")
}

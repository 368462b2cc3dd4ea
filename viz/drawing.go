package viz

import (
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawing is a figure as it was drawn, in parts that a page can arrange. Lengths are in units of a
// tenth of a point. Colours come in pairs, for light screens and dark ones. Of its numbers,
// columns.go tells how they are written.
type drawing struct {
	Name, Alt     string
	Width, Height int
	Colors        [][2]string
	Key           []part   `json:",omitempty"`
	Rows          [][]part `json:",omitempty"`
	Values        string   `json:",omitempty"` // the numbers, compressed by Pack

	numbers numbers
}

// part is a plot, or an entry of the key. Boxes are left, top, width and height.
type part struct {
	Name   string `json:",omitempty"`
	Box    [4]int
	Data   [4]int // where the values lie
	X, Y   axis
	Groups []group `json:",omitempty"`
}

// group is what belongs together: a series, a described mark, or what has no name.
type group struct {
	Name   string `json:",omitempty"`
	Say    string `json:",omitempty"` // what a reader is told, after the name
	Inside bool   `json:",omitempty"` // among the data, which a zoom moves
	Marks  []mark

	values [][]float64 // of a series: x and y, and perhaps low and high
}

// mark is a path that is filled, or stroked if it has a width; a text; or a picture, Size wide and
// Width high.
type mark struct {
	Path  svgPath `json:",omitzero"`
	Text  string  `json:",omitempty"`
	Image []byte  `json:",omitempty"` // a PNG
	Color int     `json:",omitempty"`
	Width float64 `json:",omitempty"`
	Dot   bool    `json:",omitempty"` // drawn by a round pen
	Dash  []int   `json:",omitempty"`
	X     int     `json:",omitempty"`
	Y     int     `json:",omitempty"`
	Size  int     `json:",omitempty"`
	Turn  float64 `json:",omitempty"` // degrees
}

// parts returns the key's entries and the plots.
func (d *drawing) parts() []part { return slices.Concat(append([][]part{d.Key}, d.Rows...)...) }

// series returns the groups of which a page asks values, in the order in which it finds them.
func (d *drawing) series() (out []group) {
	for _, p := range d.parts() {
		for _, g := range p.Groups {
			if g.Name != "" && len(g.Marks) > 0 {
				out = append(out, g)
			}
		}
	}
	return out
}

// goesOn says whether what is drawn under a tag continues the group.
func (g *group) goesOn(t tag, inside bool) bool {
	return g.Name == t.name && g.Say == t.say && g.Inside == inside && t.at == nil
}

// joins says whether the other is a path of the same look.
func (m *mark) joins(o *mark) bool {
	same := m.Color == o.Color && m.Width == o.Width && m.Dot == o.Dot
	return !m.Path.IsZero() && same && len(m.Dash) == 0 && len(o.Dash) == 0
}

// drawing draws the figure at its size.
func (f *Figure) drawing() *drawing {
	width, height := f.size()
	d := &drawing{Name: f.Name, Alt: f.Alt, Width: units(width), Height: units(height)}
	f.Draw(draw.NewCanvas(newSheet(d, height), width, height))
	d.number(f.Data)
	return d
}

// begin starts a part of a drawing: a plot in a row or, with p nil, an entry of the key. Canvases
// that record no drawing ignore it.
func (f *Figure) begin(tile draw.Canvas, label string, p *plot.Plot, box vg.Rectangle, row int) {
	s := sheetOf(tile)
	if s == nil {
		return
	}
	if p == nil {
		s.drawing.Key = append(s.drawing.Key, part{Name: label})
		s.begin(last(s.drawing.Key), box)
		return
	}
	for len(s.drawing.Rows) <= row {
		s.drawing.Rows = append(s.drawing.Rows, nil)
	}
	if isBlank(p) {
		s.drawing.Rows[row] = append(s.drawing.Rows[row], part{})
		return
	}
	s.drawing.Rows[row] = append(s.drawing.Rows[row], part{Name: strings.Join(strings.Fields(p.Title.Text), " ")})
	made := last(s.drawing.Rows[row])
	s.begin(made, box)
	made.Data = s.box(p.DataCanvas(tile).Rectangle) // which gives axes without data their ends
	made.X, made.Y = axisOf(&p.X), axisOf(&p.Y)
}

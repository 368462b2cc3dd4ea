package viz

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// MediaType is the media type of the JSON of [Frames] in the outputs of a notebook.
const MediaType = "application/vnd.parallelcl.figure+json"

// drawing is a figure as it was drawn, in parts that a page can arrange, with the names and values of what they show.
// Its colours come in pairs, for light screens and dark ones.
type drawing struct {
	Name, Alt string
	Width     float64 // points
	Colors    [][2]string
	Key       []part
	Rows      [][]part
	CSV       []byte // the data, compressed by gzip; nil if there are none

	height float64    // points
	data   [][]string // the rows of CSV, once they were read
}

// part is a plot, or an entry of the key. Boxes are x, y, width and height, in points.
type part struct {
	Name   string `json:",omitempty"`
	Box    [4]float64
	Data   [4]float64 // where the values lie
	X, Y   axis
	Groups []group
}

// axis turns places into values.
type axis struct {
	Label    string `json:",omitempty"`
	Min, Max float64
	Kind     string     `json:",omitempty"` // "log"; "power", of which the values are exponents; or "names" of what is no number; empty: linear
	Names    []tickName `json:",omitempty"`
}

// tickName stands at a value of an axis.
type tickName struct {
	At   float64
	Name string
}

// group is what belongs together: a series, a mark, or what has no name.
type group struct {
	Name   string      `json:",omitempty"`
	Say    string      `json:",omitempty"` // what a reader is told, after the name
	At     [][]float64 `json:",omitempty"` // the values of a series: x, y, and perhaps low and high
	Inside bool        `json:",omitempty"` // among the data, which a zoom takes along
	Marks  []mark
}

// mark is a path that is filled, or stroked if it has a width; a text; or a picture, Size wide and Width high.
type mark struct {
	Path  string    `json:",omitempty"`
	Text  string    `json:",omitempty"`
	Image []byte    `json:",omitempty"` // a PNG
	Color int       `json:",omitempty"`
	Width float64   `json:",omitempty"`
	Dot   bool      `json:",omitempty"` // of a round pen
	Dash  []float64 `json:",omitempty"`
	X     float64   `json:",omitempty"`
	Y     float64   `json:",omitempty"`
	Size  float64   `json:",omitempty"`
	Turn  float64   `json:",omitempty"` // degrees
}

// parts are the key's entries and the plots.
func (d *drawing) parts() []part { return slices.Concat(append([][]part{d.Key}, d.Rows...)...) }

// goesOn says whether what has a tag belongs to the group.
func (g *group) goesOn(t tag, inside bool) bool {
	return g.Name == t.name && g.Say == t.say && g.Inside == inside && t.at == nil
}

// joins says whether the other is a path of the same look.
func (m *mark) joins(o *mark) bool {
	return m.Path != "" && o.Path != "" && m.Color == o.Color && m.Width == o.Width && m.Dot == o.Dot && len(m.Dash) == 0 && len(o.Dash) == 0
}

// drawing draws the figure at its size.
func (f *Figure) drawing() *drawing {
	width, height := f.size()
	d := &drawing{Name: f.Name, Alt: f.Alt, Width: tenth(width), height: tenth(height)}
	f.Draw(draw.NewCanvas(newSheet(d, height), width, height))
	if len(f.Data.Head) > 0 {
		d.CSV = compressed(func(w io.Writer) { f.Data.writeCSV(w, 4) })
	}
	return d
}

// compressed is what a function writes, compressed by gzip.
func compressed(write func(io.Writer)) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // which is a level
	write(w)                                              // into memory
	w.Close()
	return b.Bytes()
}

// begin makes a part of a drawing of what is drawn next.
func (f *Figure) begin(tile draw.Canvas, label string, p *plot.Plot, box vg.Rectangle, row int) {
	s := sheetOf(tile)
	if s == nil {
		return
	}
	of := &s.drawing.Key
	if p != nil {
		for len(s.drawing.Rows) <= row {
			s.drawing.Rows = append(s.drawing.Rows, nil)
		}
		of = &s.drawing.Rows[row]
	}
	*of = append(*of, part{Name: label})
	made := &(*of)[len(*of)-1]
	s.in(made, box)
	if p != nil {
		made.Name = strings.Join(strings.Fields(p.Title.Text), " ")
		made.Data = s.box(p.DataCanvas(tile).Rectangle) // which gives axes without data their ends
		made.X, made.Y = axisOf(&p.X), axisOf(&p.Y)
	}
}

func axisOf(a *plot.Axis) axis {
	out := axis{Label: a.Label.Text, Min: a.Min, Max: a.Max}
	if _, log := a.Scale.(plot.LogScale); log {
		out.Kind = "log"
	}
	switch ticks := a.Tick.Marker.(type) {
	case plot.ConstantTicks:
		out.Kind = "names"
		for _, t := range ticks {
			if t.Label != "" {
				out.Names = append(out.Names, tickName{t.Value, t.Label})
			}
		}
	case PowerTicks:
		out.Kind = "power"
	}
	return out
}

package viz

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// Figure is one plot, or a small table of plots with one key above them. [NewFigure] makes one of
// your own plots.
type Figure struct {
	// Rows are drawn from the top. The plots of a row stand side by side, and the plots of a column
	// are aligned.
	Rows [][]*plot.Plot
	// HeightRatios are the relative heights of the rows; nil makes them equal.
	HeightRatios []float64
	// Width and Height are the size of the plots in Encode and Save; the key is added above them. 0
	// stands for DefaultWidth, and for 290 points a row.
	Width, Height vg.Length
	// Alt describes the figure in a sentence, for readers who cannot see it.
	Alt string
	// Name is used for files of the figure, for example "accuracy".
	Name string
	// Data has the numbers that the figure shows.
	Data Table
	// Key is drawn above the plots.
	Key []KeyEntry
}

// DefaultWidth is the width of a figure, that of a page.
const DefaultWidth vg.Length = 600 // points

const (
	gutter vg.Length = 14
	margin vg.Length = 4 // around the whole
	// dpi of PNG files: two pixels for each of a 72 dpi screen.
	dpi = 144
)

// size is the size of the plots and the key.
func (f *Figure) size() (width, height vg.Length) {
	width = cmp.Or(f.Width, DefaultWidth)
	_, key := f.placeKey(width - 2*margin)
	return width, cmp.Or(f.Height, vg.Length(290*len(f.Rows))) + key
}

// Draw draws the figure onto the whole canvas.
func (f *Figure) Draw(c draw.Canvas) {
	c.SetColor(Background)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c.Max.Y -= f.drawKey(c)
	own := f.copied()
	tiles := own.tiles(c)
	own.wrapTitles(tiles)
	for i, row := range own.Rows {
		for j, p := range row {
			own.begin(tiles[i][j], "", p, column(c, tiles[i][j].Rectangle, j, len(row)), i)
			if !isBlank(p) {
				p.Draw(tiles[i][j])
			}
		}
	}
}

// copied is the figure with plots of its own, which drawing may change.
func (f *Figure) copied() *Figure {
	own := *f
	own.Rows = nil
	for _, row := range f.Rows {
		if len(row) == 0 || slices.Contains(row, nil) {
			panic("viz: a row of the figure lacks a plot")
		}
		var plots []*plot.Plot
		for _, p := range row {
			p := *p
			settle(&p.X)
			settle(&p.Y)
			plots = append(plots, &p)
		}
		own.Rows = append(own.Rows, plots)
	}
	return &own
}

// column is a tile with all of its column's width.
func column(c draw.Canvas, tile vg.Rectangle, j, of int) vg.Rectangle {
	w := (c.Max.X - c.Min.X - gutter*vg.Length(of-1)) / vg.Length(of)
	tile.Min.X = c.Min.X + vg.Length(j)*(w+gutter)
	tile.Max.X = tile.Min.X + w
	return tile
}

// tiles cuts c into one canvas for each plot, such that the data of a column start and end at
// the same place, whatever the width of the labels beside them, unless that would squeeze it.
func (f *Figure) tiles(c draw.Canvas) [][]draw.Canvas {
	out := make([][]draw.Canvas, len(f.Rows))
	share := f.HeightRatios
	if share == nil {
		share = slices.Repeat([]float64{1}, len(f.Rows))
	}
	top := c.Max.Y
	height := c.Max.Y - c.Min.Y - gutter*vg.Length(len(f.Rows)-1)
	for i, row := range f.Rows {
		h := height * vg.Length(share[i]/floats.Sum(share))
		for j := range row {
			tile := c
			tile.Rectangle = column(c, vg.Rectangle{Min: vg.Point{Y: top - h}, Max: vg.Point{Y: top}}, j, len(row))
			out[i] = append(out[i], tile)
		}
		top -= h + gutter
	}
	aligned := !slices.ContainsFunc(f.Rows, func(row []*plot.Plot) bool { return len(row) != len(f.Rows[0]) })
	for j := 0; len(f.Rows) > 1 && aligned && j < len(f.Rows[0]); j++ {
		f.alignColumn(out, j)
	}
	return out
}

func (f *Figure) alignColumn(tiles [][]draw.Canvas, j int) {
	left, right := make([]vg.Length, len(tiles)), make([]vg.Length, len(tiles))
	for i := range tiles {
		tile := tiles[i][j]
		data := f.Rows[i][j].DataCanvas(tile)
		left[i], right[i] = data.Min.X-tile.Min.X, tile.Max.X-data.Max.X
	}
	most, mostRight := slices.Max(left), slices.Max(right)
	if tile := tiles[0][j]; most+mostRight > (tile.Max.X-tile.Min.X)*2/5 {
		return // one row's long labels would squeeze the others
	}
	for i := range tiles {
		tiles[i][j].Min.X += most - left[i]
		tiles[i][j].Max.X -= mostRight - right[i]
	}
}

// Encode writes the figure in a format: "png", "svg" or "pdf", or "csv" for its data.
func (f *Figure) Encode(w io.Writer, format string) (err error) {
	width, height := f.size()
	switch format {
	case "csv":
		return f.Data.writeCSV(w, 6)
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(Background))
		f.Draw(draw.New(c))
		_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	case "svg":
		_, err = w.Write(f.drawing().svg())
	case "pdf":
		c := vgpdf.New(width, height)
		f.Draw(draw.NewCanvas(outlined{c}, width, height))
		_, err = c.WriteTo(w)
	default:
		err = fmt.Errorf("viz: unknown format %q; known are png, svg, pdf and csv", format)
	}
	return err
}

// Save writes the figure to a file in the format of its extension: .png, .svg, .pdf or .csv.
func (f *Figure) Save(path string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	var buf bytes.Buffer
	if err := f.Encode(&buf, format); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return atomicfile.WriteBytes(path, buf.Bytes())
}

// sameAxes gives figures of one kind, the frames of a slider say, the same axes: each plot's range
// becomes the union of the ranges of all plots in its place. Figures of different kinds keep their
// own.
func sameAxes(figures ...*Figure) {
	first := slices.Concat(figures[0].Rows...)
	plots := make([][]*plot.Plot, len(first)) // by place
	for _, f := range figures {
		all := slices.Concat(f.Rows...)
		if len(all) != len(first) || len(f.Rows) != len(figures[0].Rows) {
			return
		}
		for i, p := range all {
			plots[i] = append(plots[i], p)
		}
	}
	for _, all := range plots {
		sameAxis(all, func(p *plot.Plot) *plot.Axis { return &p.X })
		sameAxis(all, func(p *plot.Plot) *plot.Axis { return &p.Y })
	}
}

package viz

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// levels are the level lines of a function on a box (xmin, xmax, ymin, ymax), of one style.
type levels struct {
	of    func(x, y float64) float64
	box   [4]float64
	style draw.LineStyle
}

// gridSize is the number of sample points along each side.
const gridSize = 60

func (l levels) Dims() (columns, rows int) { return gridSize, gridSize }
func (l levels) X(c int) float64           { return l.box[0] + (l.box[1]-l.box[0])*float64(c)/(gridSize-1) }
func (l levels) Y(r int) float64           { return l.box[2] + (l.box[3]-l.box[2])*float64(r)/(gridSize-1) }
func (l levels) Z(c, r int) float64        { return l.of(l.X(c), l.Y(r)) }

// Plot draws lines at even shares of the box's area, so that they cover the plot where the function
// is steep as well as where it is flat. They are always in the same order, so that equal figures
// are equal bytes.
func (l levels) Plot(c draw.Canvas, p *plot.Plot) {
	var z []float64
	for i := range gridSize * gridSize {
		z = append(z, l.Z(i%gridSize, i/gridSize))
	}
	slices.Sort(z)
	var at []float64
	for _, share := range []float64{0.02, 0.08, 0.16, 0.26, 0.38, 0.5, 0.62, 0.74, 0.86, 0.95} {
		at = append(at, z[int(share*float64(len(z)-1))])
	}
	lines := &strokes{Canvas: c.Canvas}
	contour := plotter.NewContour(l, slices.Compact(at), nil)
	contour.LineStyles = []draw.LineStyle{l.style}
	contour.Plot(draw.Canvas{Canvas: lines, Rectangle: c.Rectangle}, p)
	slices.SortFunc(lines.paths, func(a, b vg.Path) int {
		return cmp.Or(cmp.Compare(a[0].Pos.X, b[0].Pos.X), cmp.Compare(a[0].Pos.Y, b[0].Pos.Y), cmp.Compare(len(a), len(b)))
	})
	c.SetLineStyle(l.style)
	for _, path := range lines.paths {
		c.Stroke(path)
	}
}

// strokes keeps the lines that are drawn on a canvas.
type strokes struct {
	vg.Canvas
	paths []vg.Path
}

func (s *strokes) Stroke(p vg.Path) { s.paths = append(s.paths, p) }

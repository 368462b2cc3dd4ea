package viz

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// contours adds level lines of a function on a box at even shares of the box's area, so that they cover the plot where the
// function is steep as well as where it is flat. They are always in the same order, so that equal figures are equal bytes.
func (p *Plot) contours(f func(x, y float64) float64, box [4]float64, style draw.LineStyle) {
	g := sampleGrid(f, box)
	levels := g.quantiles(0.02, 0.08, 0.16, 0.26, 0.38, 0.5, 0.62, 0.74, 0.86, 0.95)
	p.sketch(func(c pen) {
		for _, level := range levels {
			for _, line := range g.contour(level) {
				points := make([]vg.Point, len(line))
				for i, xy := range line {
					points[i] = c.at(xy[0], xy[1])
				}
				c.StrokeLines(style, c.ClipLinesXY(points)...)
			}
		}
	})
}

// gridSize is the number of sample points along each side.
const gridSize = 60

// grid holds samples of a function on a box (xmin, xmax, ymin, ymax), row by row.
type grid struct {
	box [4]float64
	z   []float64
}

func sampleGrid(f func(x, y float64) float64, box [4]float64) grid {
	g := grid{box: box}
	for r := range gridSize {
		for c := range gridSize {
			x, y := g.at(float64(c), float64(r))
			g.z = append(g.z, f(x, y))
		}
	}
	return g
}

// at returns the place of a column and a row, whole or between.
func (g *grid) at(c, r float64) (x, y float64) {
	return g.box[0] + (g.box[1]-g.box[0])*c/(gridSize-1), g.box[2] + (g.box[3]-g.box[2])*r/(gridSize-1)
}

// quantiles returns the values below which the given shares of the samples lie.
func (g *grid) quantiles(shares ...float64) []float64 {
	sorted := slices.Sorted(slices.Values(g.z))
	levels := make([]float64, len(shares))
	for i, share := range shares {
		levels[i] = sorted[int(share*float64(len(sorted)-1))]
	}
	return slices.Compact(levels)
}

// contour follows a level from cell to cell (marching squares). A line passes through edges of the
// grid: edge 2p leads from sample p to the one on its right, edge 2p+1 to the one above it.
func (g *grid) contour(level float64) [][][2]float64 {
	next := make([][]int, 2*len(g.z)) // the edges that the line joins to each edge
	for r := range gridSize - 1 {
		for c := range gridSize - 1 {
			p := r*gridSize + c
			var cut []int
			for _, e := range []int{2 * p, 2*(p+1) + 1, 2 * (p + gridSize), 2*p + 1} { // around the cell
				if g.cuts(e, level) {
					cut = append(cut, e)
				}
			}
			// Four cuts are a saddle; its two lines go around the corners unlike the middle.
			if len(cut) == 4 {
				middle := (g.z[p] + g.z[p+1] + g.z[p+gridSize] + g.z[p+gridSize+1]) / 4
				if (middle >= level) != (g.z[p] >= level) {
					cut = []int{cut[3], cut[0], cut[1], cut[2]}
				}
			}
			for i := 0; i+1 < len(cut); i += 2 {
				a, b := cut[i], cut[i+1]
				next[a], next[b] = append(next[a], b), append(next[b], a)
			}
		}
	}
	var lines [][][2]float64
	for _, neighbours := range []int{1, 2} { // lines that end at the border, then closed ones
		for e := range next {
			if len(next[e]) == neighbours {
				lines = append(lines, g.follow(e, level, next))
			}
		}
	}
	return lines
}

// follow walks a line from one of its edges and takes it out of next.
func (g *grid) follow(start int, level float64, next [][]int) [][2]float64 {
	line := [][2]float64{g.crossing(start, level)}
	for e := start; len(next[e]) > 0; {
		to := next[e][0]
		next[e] = next[e][1:]
		back := slices.Index(next[to], e)
		next[to] = slices.Delete(next[to], back, back+1)
		line = append(line, g.crossing(to, level))
		e = to
	}
	return line
}

func (g *grid) ends(edge int) (p, q int) {
	p = edge / 2
	if edge%2 == 0 {
		return p, p + 1
	}
	return p, p + gridSize
}

func (g *grid) cuts(edge int, level float64) bool {
	p, q := g.ends(edge)
	return (g.z[p] >= level) != (g.z[q] >= level)
}

// crossing returns where the level crosses an edge, taken as linear.
func (g *grid) crossing(edge int, level float64) [2]float64 {
	p, q := g.ends(edge)
	t := (level - g.z[p]) / (g.z[q] - g.z[p])
	c, r := float64(p%gridSize), float64(p/gridSize)
	if edge%2 == 0 {
		c += t
	} else {
		r += t
	}
	x, y := g.at(c, r)
	return [2]float64{x, y}
}

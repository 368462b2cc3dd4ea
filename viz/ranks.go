package viz

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// CriticalDifference draws methods on an axis of average ranks, the best at the left (a critical
// difference diagram, Demšar 2006). It must show which differences are significant: a thick line
// joins methods that Wilcoxon's test with Holm's correction cannot tell apart. Methods of nearly
// equal rank stand side by side; the number beside the label is exact. labels are the methods'
// display names.
func CriticalDifference(methods, labels []string, r *stats.Comparison) (*Figure, error) {
	f := Figure{Name: "ranks", Data: Table{Head: []string{"method", "average_rank", "situations"}}}
	for _, i := range r.Order {
		f.Data.Head = append(f.Data.Head, "adjusted_p_"+labels[i])
		row := []any{labels[i], r.Ranks[i], r.Pairs}
		for _, j := range r.Order {
			row = append(row, r.Adjusted[i][j])
		}
		f.Data.Add(row...)
	}
	p := NewBarePlot("", "", "")
	p.HideAxes()
	addRanks(p, Styles(methods), labels, r)
	k := len(r.Ranks)
	f.Height = vg.Length(60+8*len(r.Cliques)) + vg.Length((k+1)/2)*rankLine
	f.Key = []KeyEntry{
		{Label: fmt.Sprintf("average rank over %s, 1 is best", plural.Of(r.Pairs, "situation"))},
		{Label: fmt.Sprintf("not told apart (Wilcoxon, Holm, α = %v)", r.Alpha), Line: lineStyle(Ink, 3)},
	}
	f.Alt = fmt.Sprintf(
		"Average ranks of %s over %s, with lines that join those which Wilcoxon's tests do not tell apart.",
		plural.Of(k, "method"), plural.Of(r.Pairs, "situation"))
	return NewFigure(f, []*Plot{p})
}

const (
	rankLine = vg.Length(15.3) // between the names of two methods
	rankMark = 2.8             // a marker's radius
)

// addRanks adds the whole diagram.
func addRanks(p *Plot, styles []Style, labels []string, r *stats.Comparison) {
	p.Add(Sketch(func(c Pen) {
		sty := TextStyle(Ink)
		names, side := make([]string, len(r.Ranks)), vg.Length(0)
		for i := range names {
			names[i] = fmt.Sprintf("%s %.2f", labels[i], r.Ranks[i])
			side = max(side, sty.Width(names[i])+vg.Points(14))
		}
		k, left := len(r.Ranks), c.Min.X+side
		right := max(c.Max.X-side, left+vg.Points(20)) // long names on a narrow page
		c.X = func(rank float64) vg.Length { return left + (right-left)*vg.Length((rank-1)/float64(k-1)) }
		y := c.Max.Y - vg.Points(18)
		drawRankAxis(c, k, y)
		low := y - vg.Points(9)
		for _, g := range r.Cliques { // methods that cannot be told apart
			from, to := r.Ranks[r.Order[g[0]]], r.Ranks[r.Order[g[1]]]
			c.StrokeLine2(lineStyle(Ink, 3), c.X(from)-vg.Points(3), low, c.X(to)+vg.Points(3), low)
			low -= vg.Points(8)
		}
		at := make([]vg.Length, k)
		for place, i := range r.Order {
			at[place] = c.X(r.Ranks[i])
		}
		moveApart(at, 2*rankMark, left, right)
		for place, i := range r.Order { // the leader from the axis down and to the side, and the name there
			row, end, text := place, left-vg.Points(2), left-vg.Points(10)-sty.Width(names[i])
			if place >= (k+1)/2 {
				row, end, text = k-1-place, right+vg.Points(2), right+vg.Points(10)
			}
			s, x, below := styles[i], at[place], low-vg.Points(8)-rankLine*vg.Length(row)
			c.Describe(labels[i], fmt.Sprintf("average rank %.2f", r.Ranks[i]))
			c.StrokeLines(draw.LineStyle{Color: s.Color, Width: 1.2},
				[]vg.Point{{X: x, Y: y}, {X: x, Y: below}, {X: end, Y: below}})
			c.DrawGlyphNoClip(s.GlyphStyle(rankMark), vg.Point{X: x, Y: y})
			c.FillText(sty, vg.Point{X: text, Y: below + 1}, names[i]) // its letters look centred there
		}
	}))
}

func drawRankAxis(c Pen, k int, y vg.Length) {
	sty, line := TextStyle(Muted), lineStyle(Muted, 1)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YBottom
	c.StrokeLine2(line, c.X(1), y, c.X(float64(k)), y)
	every := max(1, int(math.Ceil(float64(k)/20)))
	for rank := 1; rank <= k; rank += every {
		at := c.X(float64(rank))
		c.StrokeLine2(line, at, y, at, y+vg.Points(4))
		c.FillText(sty, vg.Point{X: at, Y: y + vg.Points(5)}, strconv.Itoa(rank))
	}
}

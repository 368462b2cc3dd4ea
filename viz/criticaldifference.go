package viz

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// CriticalDifference draws a ranking on an axis of average ranks, the best at the left (the diagram of Demšar 2006). It must show
// which differences are significant: a thick line joins methods that Nemenyi's test cannot tell apart, or Wilcoxon's
// ([Ranking.ByWilcoxon]). The bar above the axis is Nemenyi's critical difference. If Friedman's test finds no difference (its p
// is printed), the thick lines mean nothing either. Methods of nearly the same rank stand side by side; the number beside the
// name is exact.
func CriticalDifference(t *Theme, r *Ranking) (*Figure, error) {
	p := t.panel("", "", "")
	p.HideAxes()
	p.ranks(r)
	k := len(r.Ranks)
	l := layout{name: "critical-difference", data: r.table(), height: vg.Length(80+8*len(r.cliques())) + vg.Length((k+1)/2)*rankLine,
		alt: fmt.Sprintf("Average ranks of %d methods over %d situations with the critical difference %.2f.", k, r.N, r.CD)}
	apart := "not told apart"
	if r.Compared != nil {
		l.height -= 20
		l.alt = fmt.Sprintf("Average ranks of %d methods over %d situations, with lines that join those which Wilcoxon's tests do not tell apart.", k, r.N)
		apart = fmt.Sprintf("not told apart (Wilcoxon, Holm, α = %v)", r.Compared.Alpha)
	}
	l.key = []keyEntry{
		{label: fmt.Sprintf("average rank over %d situations, 1 is best", r.N)},
		{label: fmt.Sprintf("Friedman χ² = %.2f, F = %.2f, p = %.2g", r.ChiSquare, r.F, r.P)},
		{label: apart, line: t.line(t.Ink, 3)},
	}
	return t.figure(l, []*Plot{p})
}

// table has a line for each method, and with Wilcoxon's tests the p-values of all pairs.
func (r *Ranking) table() Table {
	data, order := Table{Head: []string{"method", "average_rank", "situations", "friedman_p"}}, r.byRank()
	if r.Compared == nil {
		data.Head = append(data.Head, "critical_difference")
		for _, i := range order {
			data.add(r.Labels[i], r.Ranks[i], r.N, r.P, r.CD)
		}
		return data
	}
	for _, i := range order {
		data.Head = append(data.Head, "adjusted_p_"+r.Labels[i])
		row := []any{r.Labels[i], r.Ranks[i], r.N, r.P}
		for _, j := range order {
			row = append(row, r.Compared.Adjusted[i][j])
		}
		data.add(row...)
	}
	return data
}

const (
	rankLine vg.Length = tickSize * 1.7 // between the names of two methods
	rankMark           = 2.8            // a marker's radius
)

// ranks adds the whole diagram.
func (p *Plot) ranks(r *Ranking) {
	styles := p.theme.Methods(r.Methods...)
	p.sketch(func(c pen) {
		ink := c.theme.text(c.theme.Ink, tickSize)
		names, side := make([]string, len(r.Ranks)), vg.Length(0)
		for i := range names {
			names[i] = fmt.Sprintf("%s %.2f", r.Labels[i], r.Ranks[i])
			side = max(side, ink.Width(names[i])+vg.Points(14))
		}
		k, left := len(r.Ranks), c.Min.X+side
		right := max(c.Max.X-side, left+vg.Points(20)) // long names on a narrow page
		c.x = func(rank float64) vg.Length { return left + (right-left)*vg.Length((rank-1)/float64(k-1)) }
		y := c.Max.Y - vg.Points(18)
		if r.Compared == nil { // the critical difference stands above
			c.criticalDifference(r, c.Max.Y-vg.Points(10))
			y = c.Max.Y - vg.Points(38)
		}
		c.rankAxis(k, y)
		order, low := r.byRank(), y-vg.Points(9)
		for _, g := range r.cliques() { // methods that cannot be told apart
			from, to := r.Ranks[order[g[0]]], r.Ranks[order[g[1]]]
			c.StrokeLine2(c.theme.line(c.theme.Ink, 3), c.x(from)-vg.Points(3), low, c.x(to)+vg.Points(3), low)
			low -= vg.Points(8)
		}
		at := make([]vg.Length, k)
		for place, i := range order {
			at[place] = c.x(r.Ranks[i])
		}
		moveApart(at, 2*rankMark, left, right)
		for place, i := range order { // the leader from the axis down and to the side, and the name there
			row, end, text := place, left-vg.Points(2), left-vg.Points(10)-ink.Width(names[i])
			if place >= (k+1)/2 {
				row, end, text = k-1-place, right+vg.Points(2), right+vg.Points(10)
			}
			s, x, below := styles[r.Methods[i]], at[place], low-vg.Points(8)-rankLine*vg.Length(row)
			c.say(r.Labels[i], "%s: average rank %.2f", r.Labels[i], r.Ranks[i])
			c.StrokeLines(draw.LineStyle{Color: s.Color, Width: 1.2}, []vg.Point{{X: x, Y: y}, {X: x, Y: below}, {X: end, Y: below}})
			c.DrawGlyphNoClip(s.glyph(rankMark), vg.Point{X: x, Y: y})
			c.write(ink, vg.Point{X: text, Y: below}, names[i])
		}
	})
}

func (c pen) rankAxis(k int, y vg.Length) {
	sty, line := c.theme.text(c.theme.Muted, tickSize), c.theme.line(c.theme.Muted, 1)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YBottom
	c.StrokeLine2(line, c.x(1), y, c.x(float64(k)), y)
	every := max(1, int(math.Ceil(float64(k)/20)))
	for rank := 1; rank <= k; rank += every {
		at := c.x(float64(rank))
		c.StrokeLine2(line, at, y, at, y+vg.Points(4))
		c.FillText(sty, vg.Point{X: at, Y: y + vg.Points(5)}, strconv.Itoa(rank))
	}
}

// criticalDifference draws it as a bar; where it exceeds the axis it ends there.
func (c pen) criticalDifference(r *Ranking, y vg.Length) {
	line := c.theme.line(c.theme.Ink, 1.2)
	from, to := c.x(1), c.x(min(1+r.CD, float64(len(r.Ranks))))
	c.StrokeLine2(line, from, y, to, y)
	for _, at := range []vg.Length{from, to} {
		c.StrokeLine2(line, at, y-vg.Points(3), at, y+vg.Points(3))
	}
	c.write(c.theme.text(c.theme.Ink, tickSize), vg.Point{X: to + vg.Points(6), Y: y}, fmt.Sprintf("CD = %.2f (α = %v)", r.CD, r.Alpha))
}

package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Conflicts draws how well the gradients of the streams agree. On the left is the cosine of each
// pair, averaged over the steps with both streams; on the right is the share of those steps in
// which the pair conflicts (cosine below 0). It must show which streams conflict, how strongly and
// how often. The records must hold Gram matrices. For a single step only the cosines are drawn.
func Conflicts(records []results.Record) (*Figure, error) {
	s, err := streamsOf(records)
	if err != nil {
		return nil, err
	}
	pairs, err := s.cosines()
	if err != nil {
		return nil, err
	}
	t := s.triangle(pairs)
	row := []*Plot{t.plot("cosine of the gradients", Diverging, signed, pair.mean)}
	if len(records) > 1 {
		row[0].Title.Text += ", mean over steps"
		color := func(v float64) Color { return Diverging(1 - 2*v) }
		row = append(row, t.plot("steps in conflict, %", color, percent, pair.share))
	}
	data := Table{Head: []string{"stream", "other", "mean_cosine", "share_in_conflict", "steps"}}
	for i, a := range s.ids {
		for _, b := range s.ids[i+1:] {
			if p := pairs[[2]int{a, b}]; p.steps > 0 {
				data.Add(s.name(a), s.name(b), p.mean(), p.share(), p.steps)
			}
		}
	}
	return NewFigure(Figure{Name: "conflicts", Data: data, Height: 300, Width: DefaultWidth / 2 * vg.Length(len(row)),
		Alt: fmt.Sprintf("Cosines of the gradients of %s.", plural.Of(len(s.ids), "stream")),
		Key: []KeyEntry{
			Swatch("conflict (−1; all steps)", Diverging(-1)),
			Swatch("at right angles (0; half of the steps)", Diverging(0)),
			Swatch("agreement (+1; no step)", Diverging(1)),
		}}, row)
}

// triangle is a matrix with each pair of streams once.
type triangle struct {
	*streams
	pairs         map[[2]int]pair
	below, across []int // the places of streams that have a pair with an earlier one, and with a later one
}

func (s *streams) triangle(pairs map[[2]int]pair) *triangle {
	t := &triangle{streams: s, pairs: pairs}
	for i, a := range s.ids {
		for j, b := range s.ids[:i] {
			if pairs[[2]int{a, b}].steps > 0 {
				t.below, t.across = append(t.below, i), append(t.across, j)
			}
		}
	}
	slices.Sort(t.across)
	t.below, t.across = slices.Compact(t.below), slices.Compact(t.across)
	return t
}

// plot draws a value of each pair.
func (t *triangle) plot(title string, color func(float64) Color, text func(float64) string,
	value func(pair) float64) *Plot {
	m, names := &Matrix{Color: color, Text: text}, t.names()
	for _, j := range t.across {
		name := names[j]
		if len(names) > 7 { // too many to stand beside each other in full
			name = strings.TrimPrefix(name, "task ")
		}
		m.Columns = append(m.Columns, name)
	}
	for _, i := range t.below {
		var row []float64
		for _, j := range t.across {
			if row = append(row, math.NaN()); j < i {
				row[len(row)-1] = value(t.pairs[[2]int{t.ids[i], t.ids[j]}])
			}
		}
		m.Rows, m.Cells = append(m.Rows, names[i]), append(m.Cells, row)
	}
	p := NewBarePlot(title, "", "")
	p.AddMatrix(m)
	return p
}

func signed(v float64) string { return strings.Replace(fmt.Sprintf("%+.2f", v), "-", "−", 1) }

func percent(v float64) string { return fmt.Sprintf("%.0f", 100*v) }

// maxMatrix is the largest number of rows and columns: beyond it no cell could be told from the
// next.
const maxMatrix = 500

// pair sums up the steps that two streams share.
type pair struct{ steps, cosine, conflicts float64 }

func (p pair) mean() float64  { return p.cosine / p.steps }
func (p pair) share() float64 { return p.conflicts / p.steps }

// cosines gathers all pairs of streams by their ids; gradients that are 0 have none.
func (s *streams) cosines() (map[[2]int]pair, error) {
	pairs := map[[2]int]pair{}
	for _, r := range s.records {
		k := len(r.IDs)
		if len(r.Gram) == 0 && k > 0 {
			return nil, fmt.Errorf("viz: the record of step %d has no Gram matrix; record a method that needs one, for "+
				"example an EMGD method", r.Step)
		}
		for a, id := range r.IDs {
			for b, other := range r.IDs {
				norms := math.Sqrt(r.Gram[a*k+a] * r.Gram[b*k+b])
				if a == b || !(norms > 0) {
					continue
				}
				p, product := pairs[[2]int{id, other}], r.Gram[a*k+b]
				p.steps++
				p.cosine += product / norms
				if product < 0 {
					p.conflicts++
				}
				pairs[[2]int{id, other}] = p
			}
		}
	}
	switch n := len(s.ids); {
	case len(pairs) == 0:
		return nil, errors.New("viz: no step has two streams with gradients to compare")
	case n > maxMatrix:
		return nil, fmt.Errorf("viz: the records have %d streams; a matrix shows up to %d: draw fewer steps", n, maxMatrix)
	}
	return pairs, nil
}

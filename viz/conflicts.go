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
// tasks has the names of the tasks, as for [StreamWeights].
func Conflicts(records []results.Record, tasks ...string) (*Figure, error) {
	s, err := streamsOf(records, tasks...)
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
		Key: append([]KeyEntry{
			Swatch("conflict (−1; all steps)", Diverging(-1)),
			Swatch("at right angles (0; half of the steps)", Diverging(0)),
			Swatch("agreement (+1; no step)", Diverging(1)),
		}, t.unnamed...)}, row)
}

// triangle is a matrix with each pair of streams once.
type triangle struct {
	*streams
	pairs         map[[2]int]pair
	below, across []int // the places of streams that have a pair with an earlier one, and with a later one
	rows, columns []string
	unnamed       []KeyEntry // the names of columns that are numbers, and no rows
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
	t.rows, t.columns = t.namesAt(t.below), t.namesAt(t.across)
	if !fit(t.columns, 230) {
		t.number()
	}
	return t
}

func (t *triangle) namesAt(places []int) (names []string) {
	for _, i := range places {
		names = append(names, t.name(t.ids[i]))
	}
	return names
}

// number puts numbers in the place of the names of tasks above columns, and beside those of rows.
func (t *triangle) number() {
	for k, j := range t.across {
		id := t.ids[j]
		if id <= 0 {
			continue
		}
		if name := t.columns[k]; ownName(name, id) != "" && !slices.Contains(t.below, j) {
			t.unnamed = append(t.unnamed, KeyEntry{Label: numbered(name, id)})
		}
		t.columns[k] = fmt.Sprint(id)
	}
	for k, i := range t.below {
		if id := t.ids[i]; id > 0 && ownName(t.rows[k], id) != "" {
			t.rows[k] = numbered(t.rows[k], id)
		}
	}
}

// plot draws a value of each pair.
func (t *triangle) plot(title string, color func(float64) Color, text func(float64) string,
	value func(pair) float64) *Plot {
	m := &Matrix{Color: color, Text: text, Rows: t.rows, Columns: t.columns}
	for _, i := range t.below {
		var row []float64
		for _, j := range t.across {
			if row = append(row, math.NaN()); j < i {
				row[len(row)-1] = value(t.pairs[[2]int{t.ids[i], t.ids[j]}])
			}
		}
		m.Cells = append(m.Cells, row)
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

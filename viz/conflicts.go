package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Conflicts draws how the streams' gradients agree: on the left the cosine of each pair, averaged over the steps in which both
// take part; on the right the share of those steps in which they conflict (a cosine below 0), on a scale with its middle at a
// half. It must show which streams conflict, how much and how often. The records must hold Gram matrices; a single step's record
// gives its cosines alone.
func Conflicts(records []results.Record) (*Figure, error) {
	rows, pairs, err := cosines(records)
	if err != nil {
		return nil, err
	}
	names, columns := rows.names(), rows.names()
	if len(names) > 7 { // too many to stand beside each other in full
		for i := range columns {
			columns[i] = strings.TrimPrefix(columns[i], "task ")
		}
	}
	panel := func(title string, color func(float64) tint, text func(float64) string, value func(pair) float64) *Plot {
		last := len(names) - 1
		m := &matrix{rows: names[1:], columns: columns[:last], color: color, text: text} // each pair once
		for i, a := range rows.ids[1:] {
			m.cells = append(m.cells, slices.Repeat([]float64{math.NaN()}, last))
			for j, b := range rows.ids[:i+1] {
				m.cells[i][j] = value(pairs[[2]int{a, b}])
			}
		}
		p := panel(title, "", "")
		p.matrix(m)
		return p
	}
	row := []*Plot{panel("cosine of the gradients", diverging, signed, pair.mean)}
	if len(records) > 1 {
		row[0].Title.Text += ", mean over steps"
		row = append(row, panel("steps in conflict, %", func(v float64) tint { return diverging(1 - 2*v) }, percent, pair.share))
	}
	data := Table{Head: []string{"stream", "other", "mean_cosine", "share_in_conflict", "steps"}}
	for i, a := range rows.ids {
		for _, b := range rows.ids[i+1:] {
			if p := pairs[[2]int{a, b}]; p.steps > 0 {
				data.add(rows.name(a), rows.name(b), p.mean(), p.share(), p.steps)
			}
		}
	}
	return figureOf(layout{name: "conflicts", data: data, height: 300, width: wide / 2 * vg.Length(len(row)),
		alt: fmt.Sprintf("Cosines of the gradients of %d streams.", len(names)),
		key: []keyEntry{
			swatchKey("conflict (−1; all steps)", diverging(-1)),
			swatchKey("at right angles (0; half of the steps)", diverging(0)),
			swatchKey("agreement (+1; no step)", diverging(1)),
		}}, row)
}

func signed(v float64) string { return fmt.Sprintf("%+.2f", v) }

func percent(v float64) string { return fmt.Sprintf("%.0f", 100*v) }

// maxMatrix is the largest number of rows and columns: beyond it no cell could be told from the next.
const maxMatrix = 500

// pair sums up the steps that two streams share.
type pair struct{ steps, cosine, conflicts float64 }

func (p pair) mean() float64  { return p.cosine / p.steps }
func (p pair) share() float64 { return p.conflicts / p.steps }

// meet adds what the Gram matrix of k gradients says about two of them, unless one is 0.
func (p *pair) meet(gram []float64, k, a, b int) bool {
	norms := math.Sqrt(gram[a*k+a] * gram[b*k+b])
	if !(norms > 0) {
		return false
	}
	p.steps++
	p.cosine += gram[a*k+b] / norms
	if gram[a*k+b] < 0 {
		p.conflicts++
	}
	return true
}

// cosines gathers all pairs of streams by their ids.
func cosines(records []results.Record) (rows streams, pairs map[[2]int]pair, err error) {
	if err := checkRecords(records); err != nil {
		return rows, nil, err
	}
	pairs = map[[2]int]pair{}
	for _, r := range records {
		k := len(r.IDs)
		if len(r.Gram) == 0 && k > 0 {
			return rows, nil, fmt.Errorf("viz: the record of step %d has no Gram matrix; record a method that needs one, for example an EMGD method", r.Step)
		}
		for a, id := range r.IDs {
			for b, other := range r.IDs {
				if s := pairs[[2]int{id, other}]; a != b && s.meet(r.Gram, k, a, b) {
					pairs[[2]int{id, other}] = s
				}
			}
		}
	}
	rows = streamsOf(records...)
	switch n := len(rows.ids); {
	case len(pairs) == 0:
		return rows, nil, errors.New("viz: no step has two streams with gradients to compare")
	case n > maxMatrix:
		return rows, nil, fmt.Errorf("viz: the records have %d streams; a matrix shows up to %d: draw fewer steps", n, maxMatrix)
	}
	return rows, pairs, nil
}

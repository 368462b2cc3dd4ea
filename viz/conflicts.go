package viz

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Conflicts draws how the streams' gradients agree. On the left is the cosine of each pair, averaged over the
// steps in which both take part; on the right the share of those steps in which they conflict (a cosine below
// 0). It must show which streams conflict, how much and how often. The colour scale of the right half has its
// middle at a half, so that frequent conflicts do not all look alike. The records must hold Gram matrices; a
// single step's record gives its cosines alone.
func Conflicts(t *Theme, records []results.Record) (*Figure, error) {
	pairs, names, err := cosines(records)
	if err != nil {
		return nil, err
	}
	columns := names
	if len(names) > 7 { // too many to stand beside each other in full
		columns = nil
		for _, name := range names {
			columns = append(columns, strings.TrimPrefix(name, "task "))
		}
	}
	cosine := t.panel("cosine of the gradients", "", "")
	cosine.matrix(&matrix{rows: names, columns: columns, color: t.diverging, text: signed,
		cells: cells(pairs, func(p pair) float64 { return p.cosine / p.steps })})
	row := []*Plot{cosine}
	if len(records) > 1 {
		cosine.Title.Text += ", mean over steps"
		share := t.panel("steps in conflict, %", "", "")
		share.matrix(&matrix{rows: names, columns: columns, text: percent,
			color: func(v float64) color.NRGBA { return t.diverging(1 - 2*v) },
			cells: cells(pairs, func(p pair) float64 { return p.conflicts / p.steps })})
		row = append(row, share)
	}
	f, err := t.figure(layout{name: "conflicts", data: pairTable(pairs, names), height: 300,
		alt: fmt.Sprintf("Cosines of the gradients of %d streams.", len(names)),
		key: []keyEntry{
			t.swatchKey("conflict (−1; all steps)", t.diverging(-1)),
			t.swatchKey("at right angles (0; half of the steps)", t.diverging(0)),
			t.swatchKey("agreement (+1; no step)", t.diverging(1)),
		}}, row)
	if err == nil && len(row) == 1 {
		f.Width = wide / 2
	}
	return f, err
}

// pairTable has a row for each two streams that met.
func pairTable(pairs [][]pair, names []string) Table {
	data := Table{Head: []string{"stream", "other", "mean_cosine", "share_in_conflict", "steps"}}
	for i := range pairs {
		for j := i + 1; j < len(pairs); j++ {
			if p := pairs[i][j]; p.steps > 0 {
				data.add(names[i], names[j], p.cosine/p.steps, p.conflicts/p.steps, p.steps)
			}
		}
	}
	return data
}

func signed(v float64) string { return fmt.Sprintf("%+.2f", v) }

func percent(v float64) string { return fmt.Sprintf("%.0f", 100*v) }

// maxMatrix is how many rows and columns a matrix may have: with more, none could be told from the next.
const maxMatrix = 500

// pair sums up the steps that two streams share.
type pair struct{ steps, cosine, conflicts float64 }

// cosines gathers all pairs of streams, the memory first, then the tasks.
func cosines(records []results.Record) ([][]pair, []string, error) {
	if err := checkRecords(records); err != nil {
		return nil, nil, err
	}
	sums := map[[2]int]pair{}
	for i := range records {
		r := &records[i]
		k := len(r.IDs)
		if len(r.Gram) == 0 && k > 0 {
			return nil, nil, fmt.Errorf("viz: the record of step %d has no Gram matrix; record a method that needs one, for example an EMGD method", r.Step)
		}
		for a := range k {
			for b := range k {
				norms := math.Sqrt(r.Gram[a*k+a] * r.Gram[b*k+b])
				if a == b || norms == 0 {
					continue
				}
				s := sums[[2]int{r.IDs[a], r.IDs[b]}]
				cosine := r.Gram[a*k+b] / norms
				s.steps++
				s.cosine += cosine
				if cosine < 0 {
					s.conflicts++
				}
				sums[[2]int{r.IDs[a], r.IDs[b]}] = s
			}
		}
	}
	if len(sums) == 0 {
		return nil, nil, errors.New("viz: no step has two streams with gradients to compare")
	}
	rows := streamsOf(records...)
	ids := rows.ids
	if len(ids) > maxMatrix {
		return nil, nil, fmt.Errorf("viz: the records have %d streams; a matrix shows up to %d: draw fewer steps", len(ids), maxMatrix)
	}
	pairs := make([][]pair, len(ids))
	var names []string
	for i, a := range ids {
		for _, b := range ids {
			pairs[i] = append(pairs[i], sums[[2]int{a, b}])
		}
		names = append(names, rows.name(a))
	}
	return pairs, names, nil
}

// cells applies value to the pairs that met; the others stay empty.
func cells(pairs [][]pair, value func(pair) float64) [][]float64 {
	out := make([][]float64, len(pairs))
	for i, row := range pairs {
		for _, p := range row {
			v := math.NaN()
			if p.steps > 0 {
				v = value(p)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

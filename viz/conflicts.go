package viz

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Conflicts draws how the streams' gradients agree: on the left the cosine of each pair, averaged over the steps in which both
// take part; on the right the share of those steps in which they conflict (a cosine below 0), on a scale with its middle at a
// half. It must show which streams conflict, how much and how often. The records must hold Gram matrices; a single step's record
// gives its cosines alone.
func Conflicts(t *Theme, records []results.Record) (*Figure, error) {
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
	panel := func(title string, color func(float64) color.NRGBA, text func(float64) string, value func(pair) float64) *Plot {
		last := len(names) - 1
		m := &matrix{rows: names[1:], columns: columns[:last], color: color, text: text} // each pair once
		for i, a := range rows.ids[1:] {
			m.cells = append(m.cells, slices.Repeat([]float64{math.NaN()}, last))
			for j, b := range rows.ids[:i+1] {
				m.cells[i][j] = value(pairs[[2]int{a, b}])
			}
		}
		p := t.panel(title, "", "")
		p.matrix(m)
		return p
	}
	row := []*Plot{panel("cosine of the gradients", t.diverging, signed, pair.mean)}
	if len(records) > 1 {
		row[0].Title.Text += ", mean over steps"
		row = append(row, panel("steps in conflict, %", func(v float64) color.NRGBA { return t.diverging(1 - 2*v) }, percent, pair.share))
	}
	data := Table{Head: []string{"stream", "other", "mean_cosine", "share_in_conflict", "steps"}}
	for i, a := range rows.ids {
		for _, b := range rows.ids[i+1:] {
			if p := pairs[[2]int{a, b}]; p.steps > 0 {
				data.add(rows.name(a), rows.name(b), p.mean(), p.share(), p.steps)
			}
		}
	}
	return t.figure(layout{name: "conflicts", data: data, height: 300, width: wide / 2 * vg.Length(len(row)),
		alt: fmt.Sprintf("Cosines of the gradients of %d streams.", len(names)),
		key: []keyEntry{
			t.swatchKey("conflict (−1; all steps)", t.diverging(-1)),
			t.swatchKey("at right angles (0; half of the steps)", t.diverging(0)),
			t.swatchKey("agreement (+1; no step)", t.diverging(1)),
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

// Pairs says how the gradients of a run agree: the memory's, the sum of its rows, with those of running tasks, and these with
// each other.
type Pairs struct{ MemoryAndTask, TwoTasks PairStats }

// PairStats are the cosines of pairs of gradients over the steps of a run.
type PairStats struct {
	Pairs    int     // over all steps
	Cosine   float64 // mean
	Conflict float64 // share of pairs with a cosine below 0, from 0 to 1
}

// PairsOf returns how the gradients of a run agree. The records must hold Gram matrices.
func PairsOf(records []results.Record) Pairs {
	var memory, tasks pair
	for i := range records {
		ids, gram := summedMemory(&records[i])
		for a := range ids {
			for b := range a {
				if ids[b] == 0 {
					memory.meet(gram, len(ids), a, b)
				} else {
					tasks.meet(gram, len(ids), a, b)
				}
			}
		}
	}
	return Pairs{memory.stats(), tasks.stats()}
}

// stats has zeros where two gradients never met.
func (p pair) stats() PairStats {
	if p.steps == 0 {
		return PairStats{}
	}
	return PairStats{Pairs: int(p.steps), Cosine: p.mean(), Conflict: p.share()}
}

// summedMemory returns a step's ids and Gram matrix with the rows of the memory, wherever they stand, added up to one, the
// first. The row of a penalty is left out.
func summedMemory(r *results.Record) (ids []int, gram []float64) {
	k := len(r.IDs)
	if len(r.Gram) != k*k {
		return nil, nil
	}
	if slices.ContainsFunc(r.IDs, ofMemory) {
		ids = []int{0}
	}
	to := make([]int, k)
	for i, id := range r.IDs {
		if id > 0 {
			to[i] = len(ids)
			ids = append(ids, id)
		}
	}
	gram = make([]float64, len(ids)*len(ids))
	for a := range k {
		for b := range k {
			if r.IDs[a] != rehearsal.PenaltyRow && r.IDs[b] != rehearsal.PenaltyRow {
				gram[to[a]*len(ids)+to[b]] += r.Gram[a*k+b]
			}
		}
	}
	return ids, gram
}

// ConflictShare draws how the gradients of several methods agree: the mean cosine, and the share of pairs with a cosine below 0;
// once for the memory and a task, once for two tasks. It must show whether a method leads to gradients that conflict less. Each
// run of a label is a pale point, their mean a large one. [Conflicts] has the pairs of one run.
func ConflictShare(t *Theme, recorded ...Recorded) (*Figure, error) {
	groups, err := t.grouped(recorded)
	if err != nil {
		return nil, err
	}
	kinds := []keyEntry{
		{label: "memory and task", glyph: kindGlyph(t.Hues[1], draw.CircleGlyph{}), tight: true},
		{label: "two tasks", glyph: kindGlyph(t.Hues[0], polygon{4, 45}), tight: true},
	}
	data := Table{Head: []string{"method", "pair", "mean_cosine", "share_in_conflict", "pairs"}}
	cosine, conflict := kindRows{kinds: kinds, span: 0.4, format: "%+.2f"}, kindRows{kinds: kinds, span: 0.4, format: "%.0f %%"}
	for _, g := range groups {
		cosines, conflicts := make([][]float64, len(kinds)), make([][]float64, len(kinds))
		for k, kind := range kinds {
			for _, run := range g.runs {
				all := PairsOf(run)
				if p := []PairStats{all.MemoryAndTask, all.TwoTasks}[k]; p.Pairs > 0 {
					cosines[k], conflicts[k] = append(cosines[k], p.Cosine), append(conflicts[k], 100*p.Conflict)
					data.add(g.label, kind.label, p.Cosine, p.Conflict, p.Pairs)
				}
			}
		}
		cosine.add(g.label, cosines...)
		conflict.add("", conflicts...)
	}
	left, right := t.panel("", "mean cosine", ""), t.panel("", "pairs in conflict, %", "")
	left.dotRows(cosine.dotRows)
	right.dotRows(conflict.dotRows)
	return t.figure(layout{name: "conflict-share", data: data, height: vg.Length(50 + 34*len(groups)), key: append(kinds, paleRuns),
		alt: fmt.Sprintf("Mean cosines of gradients and the share of pairs in conflict, for %d methods.", len(groups))}, []*Plot{left, right})
}

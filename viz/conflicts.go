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
	return t.figure(layout{name: "conflicts", data: pairTable(pairs, names), height: 300, width: wide / 2 * vg.Length(len(row)),
		alt: fmt.Sprintf("Cosines of the gradients of %d streams.", len(names)),
		key: []keyEntry{
			t.swatchKey("conflict (−1; all steps)", t.diverging(-1)),
			t.swatchKey("at right angles (0; half of the steps)", t.diverging(0)),
			t.swatchKey("agreement (+1; no step)", t.diverging(1)),
		}}, row)
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

// PairKind says between which gradients a cosine is.
type PairKind string

const (
	MemoryAndTask PairKind = "memory and task" // the memory's gradient, the sum of its rows, and that of a running task
	TwoTasks      PairKind = "two tasks"       // those of two running tasks
)

// PairStats are the cosines of all pairs of a kind, over the steps of a run.
type PairStats struct {
	Pairs    int     // over all steps
	Cosine   float64 // mean
	Conflict float64 // share of pairs with a cosine below 0, from 0 to 1
}

// PairsOf returns how the gradients of a run agree. The records must hold Gram matrices.
func PairsOf(records []results.Record) map[PairKind]PairStats {
	out := map[PairKind]PairStats{}
	for i := range records {
		ids, gram := summedMemory(&records[i])
		for a, k := 0, len(ids); a < k; a++ {
			for b := range a {
				norms := math.Sqrt(gram[a*k+a] * gram[b*k+b])
				if !(norms > 0) {
					continue
				}
				kind := TwoTasks
				if ids[b] == 0 {
					kind = MemoryAndTask
				}
				s := out[kind]
				s.Pairs++
				s.Cosine += gram[a*k+b] / norms
				if gram[a*k+b] < 0 {
					s.Conflict++
				}
				out[kind] = s
			}
		}
	}
	for kind, s := range out {
		n := float64(s.Pairs)
		out[kind] = PairStats{Pairs: s.Pairs, Cosine: s.Cosine / n, Conflict: s.Conflict / n}
	}
	return out
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

// ConflictShare draws how the gradients of several methods agree: on the left the mean cosine, on the right the share
// of pairs that conflict, with a cosine below 0; once for the memory and a task, once for two tasks. It must show
// whether a method leads to gradients that conflict less. Each run of a label is a pale point, their mean a large one.
// [Conflicts] has the pairs of one run.
func ConflictShare(t *Theme, recorded ...Recorded) (*Figure, error) {
	groups, err := t.grouped(recorded)
	if err != nil {
		return nil, err
	}
	kinds := []PairKind{MemoryAndTask, TwoTasks}
	key := []keyEntry{
		{label: string(MemoryAndTask), glyph: kindGlyph(t.Hues[1], draw.CircleGlyph{}), tight: true},
		{label: string(TwoTasks), glyph: kindGlyph(t.Hues[0], polygon{4, 45}), tight: true}, paleRuns,
	}
	var cosine, conflict dotRows
	data := Table{Head: []string{"method", "pair", "mean_cosine", "share_in_conflict", "pairs"}}
	for i, g := range groups {
		stats := make([]map[PairKind]PairStats, len(g.runs))
		for n, run := range g.runs {
			stats[n] = PairsOf(run)
		}
		cosine.rows, conflict.rows = append(cosine.rows, g.label), append(conflict.rows, "")
		for k, kind := range kinds {
			left := dotRow{row: i, shift: kindShift(k, len(kinds), 0.4), mean: key[k].glyph}
			right := left
			for _, s := range stats {
				if p := s[kind]; p.Pairs > 0 {
					left.values, right.values = append(left.values, p.Cosine), append(right.values, 100*p.Conflict)
					data.add(g.label, string(kind), p.Cosine, p.Conflict, p.Pairs)
				}
			}
			if len(left.values) == 0 {
				continue
			}
			a, _ := meanStd(left.values)
			b, _ := meanStd(right.values)
			left.text, right.text = signed(a), fmt.Sprintf("%.0f %%", b)
			cosine.items, conflict.items = append(cosine.items, left), append(conflict.items, right)
		}
	}
	left, right := t.panel("", "mean cosine", ""), t.panel("", "pairs in conflict, %", "")
	left.dotRows(cosine)
	right.dotRows(conflict)
	return t.figure(layout{name: "conflict-share", data: data, height: vg.Length(50 + 34*len(groups)), key: key,
		alt: fmt.Sprintf("Mean cosines of gradients and the share of pairs in conflict, for %d methods.", len(groups))}, []*Plot{left, right})
}

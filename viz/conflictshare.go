package viz

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/results"
)

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

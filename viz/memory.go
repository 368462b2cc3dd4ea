package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// memoryRow describes the memory's part in a step. Several rows of the memory count as one, their sum.
type memoryRow struct {
	norm   float64 // length of its gradient
	share  float64 // of its weight in the sum of all weights
	along  float64 // J·d, to first order what a step of plain descent of size 1 takes from the memory's loss
	cosine float64 // of its gradient with d
	d2     float64 // ‖d‖²
}

// memoryOf describes the memory's part in a step; ok is false unless the memory and a task take part.
func memoryOf(r *results.Record) (m memoryRow, ok bool) {
	k, rows, tasks := len(r.IDs), 0, 0
	m.d2 = form(r.Weights, r.Gram, r.Weights)
	var square, weight, weights float64
	for i, id := range r.IDs {
		weights += r.Weights[i]
		if id > 0 {
			tasks++
		}
		if !ofMemory(id) {
			continue
		}
		rows++
		weight += r.Weights[i]
		for j, other := range r.IDs {
			m.along += r.Gram[i*k+j] * r.Weights[j]
			if ofMemory(other) {
				square += r.Gram[i*k+j]
			}
		}
	}
	if rows == 0 || tasks == 0 || !(square > 0) || !(m.d2 > 0) || weights == 0 {
		return m, false
	}
	m.norm, m.share = math.Sqrt(square), weight/weights
	m.cosine = min(max(m.along/(m.norm*math.Sqrt(m.d2)), -1), 1)
	return m, true
}

// memoryPoints is how many points a line of [MemoryRow] has at most: there are several, and a step's values scatter.
const memoryPoints = 50

// MemoryRow draws over the steps what each method does with the memory's gradient, a line for each label: its length, its share
// in the sum of all weights, and its cosine with the direction d of the step. It must show who leaves the memory little and when:
// below a cosine of 0 a step raises the memory's loss, to first order. Runs of one label are averaged, in at most some 50 points.
// The ends of tasks are marked if they are the same in all runs.
func MemoryRow(t *Theme, recorded ...Recorded) (*Figure, error) {
	groups, err := t.grouped(recorded)
	if err != nil {
		return nil, err
	}
	longest, ends := groups[0].runs[0], taskEnds(groups[0].runs[0])
	for _, g := range groups {
		for _, run := range g.runs {
			if run[len(run)-1].Step > longest[len(longest)-1].Step {
				longest = run
			}
			if !slices.Equal(taskEnds(run), ends) {
				ends = nil // tasks end at other steps: no line would be true of all
			}
		}
	}
	l := layout{name: "memory-row", height: 420, data: Table{Head: []string{"run", "step", "norm", "weight_share", "cosine_with_d"}},
		alt: fmt.Sprintf("The memory's gradient, weight and part in the direction over the steps, for %d methods.", len(groups))}
	var plots []*Plot
	less := "" // of several methods the differences are shown: lines that lie on each other could not be told apart
	if len(groups) > 2 {
		less = ", − mean"
	}
	for i, quantity := range []string{"length of its gradient" + less, "share of the weights" + less, "cosine with d" + less} {
		p := NewPlot(t, "", "optimiser step", quantity)
		if p.marks = ends; i > 0 {
			p.marks = unnamed(ends)
		}
		p.Y.Tick.Marker = roundTicks{4}
		plots = append(plots, p)
	}
	from, to := math.MaxInt, longest[len(longest)-1].Step // until there is a memory nothing is drawn
	bucket := (to + memoryPoints) / memoryPoints
	all := make([][]streamLine, len(groups)) // by quantity
	for k, g := range groups {
		lines := []streamLine{{}, {}, {}}
		all[k] = lines
		for _, run := range g.runs {
			for n := range run {
				m, ok := memoryOf(&run[n])
				if !ok {
					continue
				}
				step := run[n].Step
				from = min(from, step)
				l.data.add(g.label, step, m.norm, m.share, m.cosine)
				for q, value := range []float64{m.norm, m.share, m.cosine} {
					lines[q].add(step/bucket, float64(step), value)
				}
			}
		}
		if len(lines[0]) == 0 {
			return nil, fmt.Errorf("viz: %s: no step has gradients of the memory and of a task", g.label)
		}
		l.key = append(l.key, keyEntry{label: g.label, line: g.style.line(1.6)})
	}
	for q, p := range plots {
		for k, g := range groups {
			xys := all[k][q].points()
			if less != "" {
				xys = all[k][q].less(all, q)
			}
			p.line(g.label, g.style.line(1.4), xys)
		}
		p.Y.Min, p.Y.Max = min(0, 1.1*p.Y.Min), 1.05*p.Y.Max
	}
	plots[0].Y.Max *= 1.1 // room for the names of the tasks
	if len(ends) > 0 {
		l.key = append(l.key, keyEntry{label: "a task ends", line: t.taskEnd()})
	}
	l.key = append(l.key, bucketKey(bucket)...)
	return t.overSteps(from, to, l, plots...)
}

// less are the means of the buckets, less those of the same quantity of all methods that have the bucket.
func (l streamLine) less(all [][]streamLine, quantity int) plotter.XYs {
	xys := l.points()
	for i, bucket := range sortedKeys(l) {
		var mean results.Moment
		for _, of := range all {
			if s := of[quantity][bucket]; s != nil {
				mean.Add(s[1] / s[2])
			}
		}
		xys[i].Y -= mean.Mean
	}
	return xys
}

// ofMemory says whether a row belongs to the memory. The row of a penalty, whose id is below 0 too, does not.
func ofMemory(id int) bool { return id <= 0 && id != rehearsal.PenaltyRow }

// Promise compares the change of the memory's loss that a step guaranteed and predicted with the change that was measured.
type Promise struct {
	Step int
	// Guaranteed is −γσ‖d‖², the bound that the certificate sets on the change to first order. With weights rescaled to
	// w = cλ it is −γσ‖d‖²/c. It is NaN without a certificate of the memory's row, and where a floor on λ binds.
	// Predicted is −γJ·d, the change to first order.
	Guaranteed, Predicted float64
	// Changed is the loss of the batch after the step minus the loss before it.
	Changed float64
}

// PromisesOf returns the promises of the steps of plain descent with the step size γ in which the memory and a task took
// part. The run must have been observed (Options.Observe of package experiment). Several rows of the memory count as
// one, their sum.
func PromisesOf(rate float64, records []results.Record) []Promise {
	var out []Promise
	for i := range records {
		r := &records[i]
		if len(r.Gram) != len(r.IDs)*len(r.IDs) || len(r.Losses) != len(r.IDs) || len(r.LossesAfter) != len(r.IDs) || len(r.Weights) != len(r.IDs) {
			continue
		}
		m, ok := memoryOf(r)
		if !ok {
			continue
		}
		p := Promise{Step: r.Step, Predicted: -rate * m.along, Guaranteed: math.NaN()}
		rows := 0
		for k, id := range r.IDs {
			if !ofMemory(id) {
				continue
			}
			p.Changed += r.LossesAfter[k] - r.Losses[k]
			if rows++; rows > 1 {
				p.Guaranteed = math.NaN()
			} else if certified(r) && !floorBinds(r) {
				p.Guaranteed = -rate * r.Sigma[k] * form(r.Lambda, r.Gram, r.Weights) // ‖d‖², or in proportion where λ was rescaled
			}
		}
		out = append(out, p)
	}
	return out
}

// form is uᵀMv of a Gram matrix M.
func form(u, gram, v []float64) (sum float64) {
	for i, x := range u {
		for j, y := range v {
			sum += x * gram[i*len(u)+j] * y
		}
	}
	return sum
}

// Promises draws, for runs of plain descent with the step size γ, by how much the memory's loss changed on the batch of the step,
// against the change to first order; a panel for each label (its first run). It must show which method makes steps that raise the
// memory's loss, and whether what a certificate guarantees is kept. The steps with the largest changes, a hundredth of all, may
// lie at the edge.
func Promises(t *Theme, rate float64, recorded ...Recorded) (*Figure, error) {
	groups, err := t.grouped(recorded)
	if err != nil {
		return nil, err
	}
	l := layout{name: "promises", row: 250, data: Table{Head: []string{"run", "step", "guaranteed", "predicted", "changed"}},
		alt: fmt.Sprintf("Change of the memory's loss against its prediction to first order, for %d methods.", len(groups))}
	var sizes []float64
	of := make([][]Promise, len(groups))
	for i, g := range groups {
		if of[i] = PromisesOf(rate, g.runs[0]); len(of[i]) == 0 {
			return nil, fmt.Errorf("viz: %s: no step has the memory's loss after it; observe the run", g.label)
		}
		for _, p := range of[i] {
			sizes = append(sizes, p.Predicted, p.Changed)
			l.data.add(g.label, p.Step, p.Guaranteed, p.Predicted, p.Changed)
		}
	}
	slices.Sort(sizes)
	low, high := min(0, sizes[(len(sizes)-1)/200]), max(0, sizes[(len(sizes)-1)*199/200])
	if low == high {
		return nil, errors.New("viz: no step changes the memory's loss")
	}
	kept := func(x float64) float64 { return min(max(x, low), high) }
	l.key = []keyEntry{
		{label: "the memory's loss fell", glyph: draw.GlyphStyle{Color: t.Hues[1], Radius: vg.Points(1.7), Shape: draw.CircleGlyph{}}, tight: true},
		{label: "it rose", glyph: draw.GlyphStyle{Color: t.Hues[0], Radius: vg.Points(1.9), Shape: polygon{4, 45}}, tight: true},
		{label: "as predicted", line: t.line(t.Ink, 1, 4, 2)},
	}
	var plots []*Plot
	for i, g := range groups {
		p := t.panel(g.label, "change to first order, −γ J·d", "change of the memory's loss")
		grid := t.horizontals()
		grid.Vertical = t.line(t.Grid, 0.5)
		p.Add(grid)
		p.line("", t.line(t.Muted, 0.7), plotter.XYs{{X: low}, {X: high}})
		p.line("", t.line(t.Muted, 0.7), plotter.XYs{{Y: low}, {Y: high}})
		p.line(l.key[2].label, l.key[2].line, plotter.XYs{{X: low, Y: low}, {X: high, Y: high}})
		for _, x := range of[i] {
			e := l.key[0]
			if x.Changed > 0 {
				e = l.key[1]
			}
			p.dots(dot{x: kept(x.Predicted), y: kept(x.Changed), glyph: e.glyph, name: e.label})
		}
		room := 0.03 * (high - low)
		p.axes(low-room, high+room, low-room, high+room)
		p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{4}, roundTicks{5}
		plots = append(plots, p)
	}
	return t.figure(l, inRows(plots)...)
}

package pcl

import (
	"math"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// editor moves the samples of the memory. It owns nothing: it reads the network and writes the
// memory.
type editor struct {
	Edit
	network *network
	memory  *memory.Store
}

// aggregate is D = Σ wᵢ·rowᵢ, kept as its terms.
type aggregate struct {
	w    []float64
	rows []compute.Buffer
	own  compute.Buffer // a row that belongs to the aggregate and not to the step; free releases it
}

func (d *aggregate) free() {
	if d != nil {
		program.Free(d.own)
	}
}

// fix replaces the rows of d by their weighted sum, so that the step may free the rows themselves.
func (e editor) fix(d *aggregate) error {
	if d.own != nil {
		return nil
	}
	var err error
	if d.own, err = e.network.programs.Combine(d.w, d.rows); err != nil {
		return err
	}
	d.w, d.rows = []float64{1}, []compute.Buffer{d.own}
	return nil
}

// gradients returns φ of a memory row and the gradient ∇φ of each of its samples.
func (e editor) gradients(r *row, d *aggregate) (phi float64, gradients [][]float32, err error) {
	if e.Mode != "per_sample" {
		return e.at(r, r.Flat, d)
	}
	counts, kept := r.Batch.Counts, slices.Clone(r.Batch.Counts)
	defer copy(counts, kept)
	for k := range r.Batch.N {
		clear(counts)
		counts[k] = 1
		own, rows, err := e.alone(r, d)
		if err != nil {
			return 0, nil, err
		}
		phi += own / float64(r.Batch.N)
		gradients = append(gradients, rows[k])
	}
	return phi, gradients, nil
}

func (e editor) alone(r *row, d *aggregate) (phi float64, gradients [][]float32, err error) {
	one, err := e.network.programs.Gradient(e.network.now(), r.Batch, r.Loss)
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(one)
	return e.at(r, one, d)
}

// at returns φ = ‖v‖² with v = g − D (or g + D with aim "literal"), and ∇φ of each sample. ∇φ is
// twice the mixed derivative of the mean loss of the samples that count, multiplied by their
// number, so that its size does not depend on how many there are.
func (e editor) at(r *row, g compute.Buffer, d *aggregate) (phi float64, gradients [][]float32, err error) {
	sign := -1.0
	if e.Direction == "literal" {
		sign = 1
	}
	w, rows := []float64{1}, []compute.Buffer{g}
	for i, x := range d.w {
		if d.rows[i] == g {
			w[0] += sign * x
			continue
		}
		w, rows = append(w, sign*x), append(rows, d.rows[i])
	}
	v, err := e.network.programs.Combine(w, rows)
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(v)
	gradients, phi, err = e.network.programs.Edit(e.where(e.network.now()), r.Batch, r.Loss, v)
	return phi, gradients, err
}

// move moves one sample of the memory along its gradient g and returns the mean |Δx| over its
// pixels. A gradient that is zero or not finite moves nothing.
func (e editor) move(index int, g []float32) float64 {
	square := 0.0
	for _, x := range g {
		square += float64(x) * float64(x)
	}
	if square == 0 || !finite(square) {
		return 0
	}
	step := -e.Eta
	if e.Direction == "ascend" {
		step = e.Eta
	}
	switch e.Norm {
	case "raw":
	case "l2":
		step /= math.Sqrt(square)
	default:
		step /= math.Sqrt(square / float64(len(g)))
	}
	it := e.memory.Item(index)
	origin := it.Original
	if origin == nil {
		origin = it.Pixels
	}
	moved, change := slices.Clone(it.Pixels), 0.0 // target values stay as they are
	for p, x := range it.Pixels[:len(g)] {
		y := x + float32(step*float64(g[p]))
		if e.MaxDrift > 0 {
			y = min(max(y, origin[p]-float32(e.MaxDrift)), origin[p]+float32(e.MaxDrift))
		}
		if !e.Unclamped {
			y = min(max(y, 0), 1)
		}
		moved[p] = y
		change += math.Abs(float64(y - x))
	}
	if !e.memory.Edit(index, moved) {
		return 0
	}
	return change / float64(len(g))
}

package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// StepGeometry draws one EMGD step (the paper's Fig. 3). It must show that every gradient's tip reaches its guarantee along d,
// Jᵢ·d ≥ σᵢ‖d‖² (dashed), and which tips go beyond it, have slack (broad and pale), and so need no weight. On the left are the
// gradients and d to one scale: two in their own plane, in which they do not move when σ changes; more in the plane of d, along
// which places are exact, and the direction across d in which the gradients differ most. On the right is what each stream gains,
// Jᵢ·d/‖d‖², up to its guarantee σᵢ and beyond it. The record needs a Gram matrix; [Geometry] makes such a record from any
// gradients.
func StepGeometry(step results.Record) (*Figure, error) {
	k := len(step.IDs)
	switch {
	case !certified(&step) || len(step.Gram) == 0:
		return nil, fmt.Errorf("viz: the record of step %d lacks a Gram matrix or a certificate (λ, σ and slacks)", step.Step)
	case k < 2:
		return nil, fmt.Errorf("viz: step %d has %d streams; want at least two", step.Step, k)
	case floorBinds(&step):
		return nil, fmt.Errorf("viz: a floor on λ binds at step %d, so that σᵢ‖d‖² is not what its certificate guarantees", step.Step)
	}
	along, across, length, err := plane(step.Gram, step.Lambda)
	if err != nil {
		return nil, fmt.Errorf("viz: step %d: %w", step.Step, err)
	}
	x, y, d := along, across, arrow{x: length, color: ink, text: "d"}
	if k == 2 {
		x, y = pairPlane(step.Gram)
		d.x, d.y = step.Lambda[0]*x[0]+step.Lambda[1]*x[1], step.Lambda[0]*y[0]+step.Lambda[1]*y[1]
	}
	left, right := panel("gradients and d", "", ""), panel("what each stream gains", "gain Jᵢ·d / ‖d‖²", "")
	a, gains, rows := &arrows{axis: d}, bars{wide: 0.44}, streamsOf(step)
	data := Table{Head: []string{"stream", "sigma", "lambda", "norm", "gain", "slack"}}
	most, least := 0.0, 0.0
	for i, id := range step.IDs {
		color, sigma, lambda := rows.color(id), step.Sigma[i], step.Lambda[i]
		tip := arrow{x: x[i], y: y[i], color: color, text: rows.name(id)}
		a.items, a.floors = append(a.items, tip), append(a.floors, a.floorOf(tip, sigma*length))
		gain, norm := along[i]/length, math.Sqrt(step.Gram[i*k+i])
		gains.rows = append(gains.rows, rows.name(id))
		gains.bars = append(gains.bars, gainBars(i, gain, sigma, color, fmt.Sprintf("λ = %.3g, ‖J‖ = %.3g", lambda, norm))...)
		data.add(rows.name(id), sigma, lambda, norm, gain, gain-sigma)
		most, least = max(most, gain, sigma), min(least, gain)
	}
	a.items = append(a.items, d)
	left.HideAxes()
	left.Add(a)
	right.bars(gains)
	right.sketch(func(c pen) { // a stroke at each guarantee
		half := gains.wide/2 + 0.02
		for i, sigma := range step.Sigma {
			c.stroke(lineStyle(ink, 2), c.at(sigma, rowY(k, i)-half), c.at(sigma, rowY(k, i)+half))
		}
	})
	right.X.Min, right.X.Max = least, 1.2*most // room for the slack's size
	right.X.Tick.Marker = roundTicks{5}
	return figureOf(layout{name: "step-geometry", data: data, height: 270,
		key: []keyEntry{
			{label: "σᵢ‖d‖: so far each tip has to reach along d", line: lineStyle(muted, 1, 3, 2)},
			{label: "guarantee σᵢ", line: lineStyle(ink, 2)},
			{label: "slack: what is gained beyond it", line: lineStyle(pale(muted), 6)},
		},
		alt: fmt.Sprintf("Geometry of the step of %d gradients: gradients, direction d, and each stream's gain beside its guarantee.", k),
	}, []*Plot{left, right})
}

// gainBars are what a stream gains: up to its guarantee, and the slack beyond.
func gainBars(row int, gain, sigma float64, color tint, text string) []bar {
	out := []bar{{row: row, end: min(gain, sigma), color: color, text: text, above: true}}
	if slack := gain - sigma; slack > 1e-6*sigma {
		out = append(out, bar{row: row, start: sigma, end: gain, color: mix(paper, color, 0.45), text: fmt.Sprintf("slack %.2g", slack)})
	}
	return out
}

// pairPlane returns two gradients' components in their own plane: the first above, the second below the
// direction between them.
func pairPlane(gram []float64) (x, y []float64) {
	a, b := math.Sqrt(gram[0]), math.Sqrt(gram[3])
	half := 0.0
	if a > 0 && b > 0 {
		half = math.Acos(min(max(gram[1]/(a*b), -1), 1)) / 2
	}
	sin, cos := math.Sincos(half)
	return []float64{a * cos, b * cos}, []float64{a * sin, -b * sin}
}

// Geometry solves a step for gradients given as vectors of one length, with elastic factors σ, and
// returns it as the record of streams 1, 2, …
func Geometry(gradients [][]float64, sigma []float64) (results.Record, error) {
	p, err := emgd.FromGradients(gradients)
	if err != nil {
		return results.Record{}, fmt.Errorf("viz: %w", err)
	}
	r := results.Record{Gram: p.Gram()}
	for i := range gradients {
		r.IDs = append(r.IDs, i+1)
	}
	var solver emgd.Solver
	c, err := solver.Solve(p, sigma)
	if err != nil {
		return r, fmt.Errorf("viz: %w", err)
	}
	c = c.Clone()
	r.Sigma, r.Lambda, r.Weights, r.Slacks = c.Sigma, c.Lambda, c.Lambda, c.Slacks
	r.Gap, r.Status, r.NormD = c.Gap, c.Status.String(), math.Sqrt(c.Norm2)
	return r, nil
}

// plane returns the gradients' components along d = Σλᵢ Jᵢ and along the direction across it in which
// they differ most, and ‖d‖, from the Gram matrix alone.
func plane(gram, lambda []float64) (along, across []float64, length float64, err error) {
	k := len(lambda)
	along, across = make([]float64, k), make([]float64, k)
	largest, norm2 := 0.0, 0.0
	for i := range k {
		for j := range k {
			along[i] += gram[i*k+j] * lambda[j] // Jᵢ·d
		}
		norm2 += lambda[i] * along[i]
		largest = max(largest, gram[i*k+i])
	}
	if !(norm2 > 1e-24*largest) {
		return nil, nil, 0, errors.New("d is 0; there is no direction to draw along")
	}
	length = math.Sqrt(norm2)
	rest := mat.NewSymDense(k, nil) // the Gram matrix of what is left across d
	for i := range k {
		along[i] /= length
		for j := range i + 1 {
			rest.SetSym(i, j, gram[j*k+i]-along[j]*along[i])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(rest, true) {
		return nil, nil, 0, errors.New("the Gram matrix has no eigenvectors")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	first := mat.Col(nil, k-1, &vectors)
	scale := math.Sqrt(max(0, eigen.Values(nil)[k-1]))
	if i := slices.IndexFunc(first, func(v float64) bool { return math.Abs(v) > 1e-9 }); i >= 0 {
		scale = math.Copysign(scale, first[i]) // the first gradient that is not on d points upwards
	}
	for i, v := range first {
		across[i] = scale * v
	}
	return along, across, length, nil
}

package viz

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/plural"
)

// StepGeometry draws an EMGD step and its solution (the paper's Fig. 3). It must show that the tip
// of every gradient reaches its guarantee along d, Jᵢ·d ≥ σᵢ‖d‖² (dashed), and that streams with
// slack (broad and pale) need no weight.
//
// On the left are the gradients and d to one scale. Two gradients are drawn in their own plane, in
// which they do not move when σ changes. More are drawn in a plane through d: positions along d are
// exact, and the direction across d is the one in which the gradients differ most. On the right is
// the gain of each stream, Jᵢ·d/‖d‖², up to its guarantee σᵢ and beyond.
func StepGeometry(p *emgd.Problem, c *emgd.Certificate) (*Figure, error) {
	switch c.Status {
	case emgd.Stationary, emgd.FloorBinding, emgd.FloorInfeasible:
		return nil, fmt.Errorf("viz: the step is %s; want one with a direction that guarantees each stream σᵢ‖d‖²",
			c.Status)
	}
	gram, lambda, k := p.Gram(), c.Lambda, len(c.Lambda)
	along, across, length := plane(gram, lambda)
	x, y, d := along, across, arrow{x: length, color: Ink, text: "d"}
	if k == 2 {
		x, y = pairPlane(gram)
		d.x, d.y = lambda[0]*x[0]+lambda[1]*x[1], lambda[0]*y[0]+lambda[1]*y[1]
	}
	left, right := NewBarePlot("gradients and d", "", ""),
		NewBarePlot("what each stream gains", "gain Jᵢ·d / ‖d‖²", "")
	var tips []arrow
	gains := Bars{Width: 0.44}
	data := Table{Head: []string{"stream", "sigma", "lambda", "norm", "gain", "slack"}}
	most, least := 0.0, 0.0
	for i, s := range c.Sigma {
		color, name := TaskColor(i, k), fmt.Sprint("task ", i+1)
		tips = append(tips, arrow{x: x[i], y: y[i], color: color, text: name, floor: s * length})
		gain, norm := along[i]/length, math.Sqrt(gram[i*k+i])
		gains.Rows = append(gains.Rows, name)
		gains.Bars = append(gains.Bars,
			gainBars(i, gain, s, color, fmt.Sprintf("λ = %.3g, ‖J‖ = %.3g", lambda[i], norm))...)
		data.Add(name, s, lambda[i], norm, gain, gain-s)
		most, least = max(most, gain, s), min(least, gain)
	}
	left.HideAxes()
	addArrows(left, d, tips...)
	right.AddBars(gains)
	right.Add(Sketch(func(pen Pen) { // a stroke at each guarantee
		half := gains.Width/2 + 0.02
		for i, s := range c.Sigma {
			y := float64(k - 1 - i)
			pen.DrawSegment(lineStyle(Ink, 2), pen.At(s, y-half), pen.At(s, y+half))
		}
	}))
	right.X.Min, right.X.Max = least, 1.2*most // room for the slack's size
	right.X.Tick.Marker = Ticks{N: 5}
	return NewFigure(Figure{Name: "step-geometry", Data: data, Height: 270,
		Key: []KeyEntry{
			{Label: "σᵢ‖d‖: so far each tip has to reach along d", Line: lineStyle(Muted, 1, 3, 2)},
			{Label: "guarantee σᵢ", Line: lineStyle(Ink, 2)},
			{Label: "slack: what is gained beyond it", Line: lineStyle(pale(Muted), 6)},
		},
		Alt: fmt.Sprintf("Geometry of the step of %s: gradients, direction d, and each stream's gain beside its guarantee.",
			plural.Of(k, "gradient")),
	}, []*Plot{left, right})
}

// gainBars are what a stream gains: up to its guarantee, and the slack beyond.
func gainBars(row int, gain, sigma float64, color Color, text string) []Bar {
	out := []Bar{{Row: row, End: min(gain, sigma), Color: color, Text: text, Above: true}}
	if slack := gain - sigma; slack > 1e-6*sigma {
		out = append(out, Bar{Row: row, Start: sigma, End: gain, Color: Background.Mix(color, 0.45),
			Text: fmt.Sprintf("slack %.2g", slack)})
	}
	return out
}

// pairPlane returns two gradients' components in their own plane: the first above, the second below
// the direction between them.
func pairPlane(gram []float64) (x, y []float64) {
	a, b := math.Sqrt(gram[0]), math.Sqrt(gram[3])
	half := 0.0
	if a > 0 && b > 0 {
		half = math.Acos(min(max(gram[1]/(a*b), -1), 1)) / 2
	}
	sin, cos := math.Sincos(half)
	return []float64{a * cos, b * cos}, []float64{a * sin, -b * sin}
}

// plane returns the gradients' components along d = Σλᵢ Jᵢ and along the direction across it in
// which they differ most, and ‖d‖, from the Gram matrix alone.
func plane(gram, lambda []float64) (along, across []float64, length float64) {
	k := len(lambda)
	along, across = make([]float64, k), make([]float64, k)
	norm2 := 0.0
	for i := range k {
		for j := range k {
			along[i] += gram[i*k+j] * lambda[j] // Jᵢ·d
		}
		norm2 += lambda[i] * along[i]
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
	eigen.Factorize(rest, true) // which are finite numbers
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
	return along, across, length
}

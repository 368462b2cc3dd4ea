package viz

import (
	"math"

	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/toy"
)

// Trace is one method's descent on the two synthetic functions.
type Trace struct {
	Method string // for the style, e.g. "emgd-gmc"
	Label  string // for the reader; Method if it is empty
	// X, Y, F1 and F2 hold one entry per step, starting with the initial point.
	X, Y, F1, F2 []float64
	Arrival      int     // the step from which the second task takes part
	LR           float64 // the step size; 0 if it is not known
}

// NewTrace returns the path of a descent; label may be empty.
func NewTrace(t *toy.Trace, label string) Trace {
	tr := Trace{Method: t.Method, Label: label, Arrival: t.Settings.Arrival, LR: t.Settings.LR}
	add := func(p toy.Point) {
		tr.X, tr.Y = append(tr.X, p.X), append(tr.Y, p.Y)
		tr.F1, tr.F2 = append(tr.F1, p.F1), append(tr.F2, p.F2)
	}
	for _, s := range t.Steps {
		add(s.Point)
	}
	add(t.End)
	return tr
}

func (tr *Trace) label() string {
	if tr.Label != "" {
		return tr.Label
	}
	return tr.Method
}

// path returns the points from step first on, without those that lie too close to the one before
// to be told apart in a plot of the box (xmin, xmax, ymin, ymax).
func (tr *Trace) path(first int, box [4]float64) plotter.XYs {
	xys := plotter.XYs{{X: tr.X[first], Y: tr.Y[first]}}
	for i := first + 1; i < len(tr.X); i++ {
		last := xys[len(xys)-1]
		far := math.Hypot((tr.X[i]-last.X)/(box[1]-box[0]), (tr.Y[i]-last.Y)/(box[3]-box[2])) > 0.006
		if far || i == len(tr.X)-1 {
			xys = append(xys, plotter.XY{X: tr.X[i], Y: tr.Y[i]})
		}
	}
	return xys
}

package analytic

import (
	"fmt"
	"math"
	"slices"
)

// Weights are a linear classifier. They never change, and any number of goroutines may use them.
type Weights struct {
	head     Head
	features int
	seen     int
	classes  []int       // in order
	w        [][]float64 // for each column, the weight for each class
	added    []float64
	unit     bool // whether scores are divided by the sample's length
}

// Seen returns how many samples the weights are made from.
func (w *Weights) Seen() int { return w.seen }

// Classes returns the classes that have samples, in order.
func (w *Weights) Classes() []int { return slices.Clone(w.classes) }

// ScoreInputs returns, for each of the samples whose features lie in x one after another, the
// scores of the given classes. That of a class without samples is -Inf, unless all are without.
func (w *Weights) ScoreInputs(x []float32, classes []int) ([][]float64, error) {
	n := len(x) / w.features
	if n*w.features != len(x) {
		return nil, fmt.Errorf("%d values are not samples of %d features each", len(x), w.features)
	}
	at := make([]int, len(classes)) // places among w.classes, -1 for those without samples
	some := false
	for i, c := range classes {
		place, found := slices.BinarySearch(w.classes, c)
		if at[i] = place; !found {
			at[i] = -1
		}
		some = some || found
	}
	q := make([][]uint8, n)
	for i := range q {
		q[i] = make([]uint8, w.features)
		if err := Quantise(x[i*w.features:(i+1)*w.features], q[i]); err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
	}
	out := make([][]float64, n)
	columns := w.head.columns(q)
	each(n, func(i int) {
		all := w.score(columns[i])
		out[i] = make([]float64, len(classes))
		for k, place := range at {
			if place >= 0 {
				out[i][k] = all[place]
			} else if some {
				out[i][k] = math.Inf(-1)
			}
		}
	})
	return out, nil
}

// score returns the scores of all classes that have samples. The columns are added in their order,
// so that the bits do not depend on what is scored beside the sample.
func (w *Weights) score(columns []float32) []float64 {
	scores := slices.Clone(w.added)
	square := 0.0
	for j, v := range columns {
		if v != 0 {
			blas.Daxpy(len(scores), float64(v), w.w[j], 1, scores, 1)
			square += float64(v) * float64(v)
		}
	}
	if w.unit && square > 0 {
		blas.Dscal(len(scores), 1/math.Sqrt(square), scores, 1)
	}
	return scores
}

// Score is ScoreInputs for one sample.
func (w *Weights) Score(features []float32, classes []int, scores []float64) bool {
	out, err := w.ScoreInputs(features, classes)
	if err != nil || len(out) != 1 {
		return false
	}
	copy(scores, out[0])
	return true
}

package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/vg"
)

// RelativeDrift returns how far features have moved: the root of the mean squared distance between each sample's
// features before and after, over the root of their mean squared distance from their mean before. At 1 the samples have
// moved as far as they were apart.
func RelativeDrift(before, after [][]float64) (float64, error) {
	if len(before) == 0 || len(before) != len(after) {
		return 0, fmt.Errorf("viz: features of %d samples before and of %d after; want the same samples, at least one", len(before), len(after))
	}
	mean := make([]float64, len(before[0]))
	for _, x := range before {
		floats.AddScaled(mean, 1/float64(len(before)), x)
	}
	var moved, spread float64
	for i, x := range before {
		moved += math.Pow(floats.Distance(x, after[i], 2), 2)
		spread += math.Pow(floats.Distance(x, mean, 2), 2)
	}
	if !(spread > 0) {
		return 0, errors.New("viz: all samples have the same features, so that there is no scale for how far they moved")
	}
	return math.Sqrt(moved / spread), nil
}

// Drift is how far the features of some samples have moved in a run, by [RelativeDrift].
type Drift struct {
	Label   string // the method, as in print; several of one label and kind are repetitions
	Samples string // which samples, for example "stored"
	Value   float64
}

// FeatureDrift draws how far features moved from the end of a task to the end of the run, a row for each label and a marker for
// each kind of samples. It must show which method holds its features still, and whether those of stored samples stay while others
// move. Each run is a pale point, their mean a large one.
func FeatureDrift(t *Theme, drifts ...Drift) (*Figure, error) {
	if len(drifts) == 0 {
		return nil, errors.New("viz: no drifts to draw")
	}
	l := layout{name: "feature-drift", data: Table{Head: []string{"method", "samples", "relative_drift"}}}
	var d dotRows
	var kinds []string
	values := map[[2]string][]float64{}
	for _, x := range drifts {
		if !slices.Contains(d.rows, x.Label) {
			d.rows = append(d.rows, x.Label)
		}
		if !slices.Contains(kinds, x.Samples) {
			k := len(kinds)
			kinds = append(kinds, x.Samples)
			l.key = append(l.key, keyEntry{label: x.Samples, glyph: kindGlyph(t.Hues[(1+2*k)%len(t.Hues)], solid[k%len(solid)]), tight: true})
		}
		at := [2]string{x.Label, x.Samples}
		values[at] = append(values[at], x.Value)
		l.data.add(x.Label, x.Samples, x.Value)
	}
	for i, row := range d.rows {
		for k, kind := range kinds {
			d.add(dotRow{row: i, shift: kindShift(k, len(kinds), 0.5), mean: l.key[k].glyph}, values[[2]string{row, kind}], "%.2f")
		}
	}
	p := t.panel("", "distance moved, over the distance between samples", "")
	p.dotRows(d)
	p.X.Min = 0
	l.height, l.key = vg.Length(50+34*len(d.rows)), append(l.key, paleRuns)
	l.alt = fmt.Sprintf("How far features moved after their task's end, for %d methods.", len(d.rows))
	return t.figure(l, []*Plot{p})
}

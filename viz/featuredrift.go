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
	data := Table{Head: []string{"method", "samples", "relative_drift"}}
	var samples []string
	for _, x := range drifts {
		samples = once(samples, x.Samples)
		data.add(x.Label, x.Samples, x.Value)
	}
	d := kindRows{span: 0.5, format: "%.2f"}
	for k, kind := range samples {
		d.kinds = append(d.kinds, keyEntry{label: kind, glyph: kindGlyph(t.Hues[(1+2*k)%len(t.Hues)], solid[k%len(solid)]), tight: true})
	}
	d.gather(len(drifts), func(i int) (string, int, float64) {
		return drifts[i].Label, slices.Index(samples, drifts[i].Samples), drifts[i].Value
	})
	p := t.panel("", "distance moved, over the distance between samples", "")
	p.dotRows(d.dotRows)
	p.X.Min = 0
	return t.figure(layout{name: "feature-drift", data: data, height: vg.Length(50 + 34*len(d.rows)), key: append(d.kinds, paleRuns),
		alt: fmt.Sprintf("How far features moved after their task's end, for %d methods.", len(d.rows))}, []*Plot{p})
}

// once adds a text to a list that lacks it.
func once(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

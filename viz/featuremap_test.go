package viz_test

import (
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz"
)

// TestFeatureMapSaysWhatItShows: rehearsal samples are explained where there are some, and one map
// fits a phone.
func TestFeatureMapSaysWhatItShows(t *testing.T) {
	x := [][2]float64{{0, 0}, {1, 1}, {2, 0}}
	plain := viz.FeatureMap{X: x, Class: []int{0, 1, 1}}
	none, stored, alone := plain, plain, plain
	none.Rehearsal, stored.Rehearsal = []bool{false, false, false}, []bool{true, false, false}
	alone.Class = []int{4, 4, 4}
	for name, c := range map[string]struct {
		maps      []viz.FeatureMap
		rehearsal bool
		alt       string
	}{
		"no list":           {[]viz.FeatureMap{plain}, false, "of 2 classes, in 1 state of the model."},
		"none in the list":  {[]viz.FeatureMap{none}, false, "of 2 classes, in 1 state of the model."},
		"one":               {[]viz.FeatureMap{stored}, true, "in 1 state of the model, with the rehearsal samples."},
		"one in the second": {[]viz.FeatureMap{plain, stored}, true, "in 2 states of the model, with the rehearsal samples."},
		"of a single class": {[]viz.FeatureMap{alone}, false, "of 1 class, in 1 state of the model."},
	} {
		t.Run(name, func(t *testing.T) {
			f := must.Get(viz.Features(nil, c.maps...))(t)
			page := viz.DrawFrames(0, nil, f).HTML()
			if strings.Contains(page, "rehearsal sample<") != c.rehearsal {
				t.Errorf("the key explains rehearsal samples: %t", !c.rehearsal)
			}
			if !strings.HasSuffix(f.Alt, c.alt) {
				t.Errorf("the description is %q", f.Alt)
			}
			if narrow := strings.Contains(page, "pcl-row narrow"); narrow != (len(c.maps) == 1) {
				t.Errorf("%d maps fit a phone as a whole: %t", len(c.maps), narrow)
			}
		})
	}
}

package viz

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestWeightsOfManySizes: weights of which one is far above the others stand on an axis of powers
// of ten; the description tells weights, not exponents.
func TestWeightsOfManySizes(t *testing.T) {
	for name, c := range map[string]struct {
		weights [][]float64 // of two tasks, by step
		powers  bool
		ends    string
	}{
		"of one size":        {[][]float64{{1, 2}, {1, 2}, {1, 2}}, false, "task 1 1, task 2 2"},
		"one far above":      {[][]float64{{1, 2}, {20000, 2}, {1, 2}, {1, 3}}, true, "task 1 1, task 2 3"},
		"a weight that is 0": {[][]float64{{1, 2}, {20000, 2}, {1, 0}}, true, "task 2 0, task 1 1"},
		"below 0":            {[][]float64{{-1, 2}, {20000, 2}, {1, 2}}, false, "task 1 1, task 2 2"},
		"nothing but 0":      {[][]float64{{0, 0}, {0, 0}}, false, "task 1 0, task 2 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var records []results.Record
			for i, w := range c.weights {
				records = append(records, results.Record{Step: i, IDs: []int{1, 2}, Losses: []float64{1, 1}, Weights: w})
			}
			f, err := StreamWeights(records)
			if err != nil {
				t.Fatal(err)
			}
			if _, powers := f.Rows[0][0].Y.Tick.Marker.(PowerTicks); powers != c.powers {
				t.Errorf("an axis of powers: %t, want %t", powers, c.powers)
			}
			for _, end := range strings.Split(c.ends, ", ") {
				if !strings.Contains(f.Alt, end) {
					t.Errorf("the description lacks %q: %s", end, f.Alt)
				}
			}
		})
	}
}

// TestMarkersOfTheDemo: the methods of pcl demo have a marker each, so that no two have to be told
// apart by colour alone.
func TestMarkersOfTheDemo(t *testing.T) {
	seen := map[any]string{}
	for _, name := range []string{"emgd", "der-pp", "emgd-gmc", "avggrad", "mgda", "emgd-gs", "er"} {
		t.Run(name, func(t *testing.T) {
			marker := any(MethodStyle(name).Marker)
			if other := seen[marker]; other != "" {
				t.Errorf("%s has the marker of %s", name, other)
			}
			seen[marker] = name
		})
	}
}

// TestLastRowKeepsItsPanels: the panels of a last row that lacks some are as wide as those above.
func TestLastRowKeepsItsPanels(t *testing.T) {
	for n, want := range map[int][]int{1: {1}, 3: {3}, 4: {2, 2}, 5: {3, 3}, 7: {3, 3, 3}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var plots []*Plot
			for range n {
				p := NewPlot("", "x", "y")
				p.Line("a", Style{}, []float64{0, 1}, []float64{0, 1})
				plots = append(plots, p)
			}
			f, err := NewFigure(Figure{Name: "panels"}, Rows(plots...)...)
			if err != nil {
				t.Fatal(err)
			}
			d, widths, drawn := f.drawing(), map[int]bool{}, 0
			for i, row := range d.Rows {
				if len(row) != want[i] {
					t.Errorf("%d plots: row %d has %d places, want %d", n, i, len(row), want[i])
				}
				for _, p := range row {
					if p.Box[2] > 0 {
						widths[p.Box[2]/10], drawn = true, drawn+1
					}
				}
			}
			if len(widths) != 1 || drawn != n {
				t.Errorf("%d plots: %d drawn, in the widths %v", n, drawn, widths)
			}
		})
	}
}

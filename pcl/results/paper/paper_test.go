package paper_test

import (
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results/paper"
)

// TestTables compares the numbers of rows with those of the paper's tables, and a few numbers with the paper.
func TestTables(t *testing.T) {
	for name, want := range map[string]struct{ rows, methods, none int }{
		"Table 1": {102, 17, 0}, "Table 2": {102, 17, 0}, "Table 3": {44, 11, 0}, "Table 4": {44, 11, 0},
		"Table 5": {72, 12, 7}, "Table 6": {30, 10, 0},
	} {
		all := paper.Table(name)
		var methods []string
		none := 0
		for _, n := range all {
			if n.None {
				none++
			} else if n.Std < 0 || n.Mean > 100 || n.Metric != "A" && n.Metric != "F" {
				t.Errorf("%s: %+v", name, n)
			}
			if !slices.Contains(methods, n.Method) {
				methods = append(methods, n.Method)
			}
		}
		if len(all) != want.rows || len(methods) != want.methods || none != want.none {
			t.Errorf("%s has %d rows of %d methods, %d of them empty; want %+v", name, len(all), len(methods), none, want)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		table, increment, method, dataset, metric string
		mean, std                                 float64
		none                                      bool
	}{
		{"Table 1", "task", "EMGD(GMC)", "PS-CIFAR-100", "A", 52.798, 0.768, false},
		{"Table 2", "class", "AvgGrad", "PS-EMNIST", "A", 43.823, 0.566, false},
		{"Table 2", "task", "AvgGrad", "PS-EMNIST", "A", 0, 0, true},
		{"Table 6", "task", "EMGD(GS)", "Split-CIFAR-10", "A", 76.986, 0, false},
		{"Table 6", "class", "EMGD(GS)", "Split-CIFAR-10", "A", 0, 0, true},
		{"Table 5", "task", "GEM", "Split-Tiny-ImageNet", "A", 0, 0, true},
	} {
		n, ok := paper.Find(c.table, c.increment, c.method, c.dataset, c.metric)
		if ok == c.none || n.Mean != c.mean || c.std != 0 && n.Std != c.std {
			t.Errorf("%+v: %+v, %v", c, n, ok)
		}
	}
}

func TestIn(t *testing.T) {
	for text, want := range map[string][]string{"Table 3": {"Table 3"}, "Tables 1 and 2": {"Table 1", "Table 2"}, "Figure 5": nil, "": nil,
		"Table 3 (20 epochs)": {"Table 3"}, "Tables 6, 1, and 2 of the paper, 5": {"Table 1", "Table 2", "Table 6"}, "Table 12": nil, "Table": nil, "Tablet 1": nil,
		"Table 4: Table 5 for 2 tasks": {"Table 4"}, "Table 3a": nil, "Table 4 for 2 tasks": {"Table 4"}, "Tables 1,2": {"Table 1", "Table 2"}} {
		if got := paper.In(text); !slices.Equal(got, want) {
			t.Errorf("%q names %v", text, got)
		}
	}
}

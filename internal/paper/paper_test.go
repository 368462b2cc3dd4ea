package paper

import (
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestPaper compares the numbers of rows with those of the paper's tables, and a few numbers with
// the paper.
func TestPaper(t *testing.T) {
	for name, want := range map[string]struct{ rows, methods, none int }{
		"Table 1": {102, 17, 0}, "Table 2": {102, 17, 0}, "Table 3": {44, 11, 0}, "Table 4": {44, 11, 0},
		"Table 5": {72, 12, 7}, "Table 6": {30, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var methods []string
			rows, none := 0, 0
			for _, p := range inPaper() {
				if p.table != name {
					continue
				}
				rows++
				if p.number == nil {
					none++
				} else if p.number.Std < 0 || p.number.Mean > 100 || p.metric != "A" && p.metric != "F" {
					t.Errorf("%+v", p)
				}
				methods = once(methods, p.method)
			}
			switch {
			case rows != want.rows:
				t.Errorf("rows is %d; want %d", rows, want.rows)
			case len(methods) != want.methods:
				t.Errorf("len(methods) is %d; want %d", len(methods), want.methods)
			case none != want.none:
				t.Errorf("none is %d; want %d", none, want.none)
			}
		})
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		table, increment, method, dataset string
		want                              *Number
	}{
		{"Table 1", "task", "EMGD(GMC)", "PS-CIFAR-100", &Number{52.798, 0.768}},
		{"Table 2", "class", "AvgGrad", "PS-EMNIST", &Number{43.823, 0.566}},
		{"Table 2", "task", "AvgGrad", "PS-EMNIST", nil},
		{"Table 5", "task", "GEM", "Split-CIFAR-10", &Number{73.027, 3.571}},
		{"Table 6", "task", "EMGD(GS)", "Split-CIFAR-10", &Number{76.986, 1.304}},
		{"Table 6", "class", "EMGD(GS)", "Split-CIFAR-10", nil},
		{"Table 5", "task", "GEM", "Split-Tiny-ImageNet", nil},
	} {
		t.Run(c.table, func(t *testing.T) {
			n := find(place{c.table, c.dataset, c.increment}, c.method, results.FinalAccuracy)
			switch {
			case (n == nil) != (c.want == nil):
				t.Errorf("%+v: (n == nil) is %t; want %t", c, (n == nil), (c.want == nil))
			case n != nil && *n != *c.want:
				t.Errorf("%+v: %+v", c, n)
			}
		})
	}
}

func TestTablesIn(t *testing.T) {
	for text, want := range map[string][]string{"Table 3": {"Table 3"}, "Tables 1 and 2": {"Table 1", "Table 2"},
		"Figure 5": nil, "": nil,
		"Table 3 (20 epochs)": {"Table 3"}, "Tables 6, 1, and 2 of the paper, 5": {"Table 1", "Table 2", "Table 6"},
		"Table 12": nil, "Table": nil, "Tablet 1": nil,
		"Table 4: Table 5 for 2 tasks": {"Table 4"}, "Table 3a": nil, "Table 4 for 2 tasks": {"Table 4"},
		"Tables 1,2": {"Table 1", "Table 2"}} {
		t.Run(text, func(t *testing.T) {
			if got := tablesIn(text); !slices.Equal(got, want) {
				t.Errorf("%q names %v", text, got)
			}
		})
	}
}

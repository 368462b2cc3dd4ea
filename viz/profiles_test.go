package viz_test

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// dataOf returns the lines of a figure's CSV.
func dataOf(t *testing.T, f *viz.Figure) [][]string {
	t.Helper()
	var out bytes.Buffer
	if err := f.Encode(&out, "csv"); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestProfiles counts the runs above each accuracy by hand.
func TestProfiles(t *testing.T) {
	var runs []*results.Run
	for i, a := range []float64{80, 60, 70, 70, 50} {
		r := &results.Run{ID: "r", Method: "er", MethodTitle: "ER", Dataset: "d", Increment: "task", Seed: uint64(i), A: a,
			Tasks: []results.Task{{ID: 1}}}
		if i == 4 {
			r.Method, r.MethodTitle = "mgda", "MGDA"
		}
		runs = append(runs, r)
	}
	f, err := viz.Profiles(runs...)
	if err != nil {
		t.Fatal(err)
	}
	lines := dataOf(t, f)
	want := [][3]string{{"ER", "60", "75"}, {"ER", "70", "25"}, {"ER", "80", "0"}, {"MGDA", "50", "0"}}
	if len(lines) != 1+len(want) {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for i, w := range want {
		if got := [3]string(lines[i+1][1:4]); got != w {
			t.Errorf("line %d is %v, want %v", i, got, w)
		}
	}
}

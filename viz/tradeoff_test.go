package viz_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

func finalRun(method, increment string, a float64) *results.Run {
	return &results.Run{ID: "r", Method: method, MethodTitle: method, Dataset: "d", Increment: increment, A: a,
		Tasks: []results.Task{{ID: 1}}}
}

// TestTradeOff finds the front by hand: of equal methods both are on it, and a method of one
// increment is left out.
func TestTradeOff(t *testing.T) {
	var runs []*results.Run
	for _, m := range []struct {
		name        string
		task, class []float64
	}{
		{"a", []float64{80, 82}, []float64{40}},
		{"b", []float64{70}, []float64{50, 52}},
		{"c", []float64{70}, []float64{49}}, // b is as good in one and better in the other
		{"d", []float64{81}, []float64{40}}, // as a
		{"e", []float64{60}, []float64{30}},
		{"f", []float64{99}, nil},
	} {
		for _, a := range m.task {
			runs = append(runs, finalRun(m.name, "task", a))
		}
		for _, a := range m.class {
			runs = append(runs, finalRun(m.name, "class", a))
		}
	}
	f, err := viz.TradeOff(runs...)
	if err != nil {
		t.Fatal(err)
	}
	lines := dataOf(t, f)
	want := []string{"d b 70 0 51 1 true", "d c 70 0 49 0 false", "d a 81 1 40 0 true", "d d 81 0 40 0 true",
		"d e 60 0 30 0 false"}
	if len(lines) != 1+len(want) {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for i, w := range want {
		t.Run(w, func(t *testing.T) {
			if got := strings.Join(lines[i+1], " "); got != w {
				t.Errorf("line %d is %q, want %q", i, got, w)
			}
		})
	}
}

// TestTradeOffOfFew: one method, long names and equal points are drawn.
func TestTradeOffOfFew(t *testing.T) {
	long := strings.Repeat("a long name ", 20)
	for _, names := range [][]string{{"one"}, {long}, {"same", "equal", long}} {
		var runs []*results.Run
		for _, name := range names {
			runs = append(runs, finalRun(name, "task", 50), finalRun(name, "class", 50))
		}
		f, err := viz.TradeOff(runs...)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Encode(new(bytes.Buffer), "svg"); err != nil {
			t.Error(err)
		}
	}
}

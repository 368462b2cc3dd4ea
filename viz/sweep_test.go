package viz

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestDefaultTau: the temperatures of runs that give none are those that the methods have.
func TestDefaultTau(t *testing.T) {
	for _, name := range method.Names() {
		spec, err := method.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range spec.Params {
			tau, ok := defaultTau[spec.Info.Name]
			if strings.HasPrefix(spec.Info.Name, "emgd") && p.Name == "tau" && (!ok || fmt.Sprint(tau) != p.Default) {
				t.Errorf("%s: %v, want %v", spec.Info.Name, tau, p.Default)
			}
		}
	}
	for _, c := range []struct {
		method string
		params map[string]any
		want   float64
	}{
		{"emgd-log+der-pp", nil, 1},
		{"emgd-gmc+der-pp", map[string]any{"emgd-gmc.tau": "7"}, 7},
		{"emgd", nil, 1.5},
		{"emgd", map[string]any{"tau": 3.0}, 3},
		{"mgda", nil, math.NaN()},
	} {
		t.Run(c.method, func(t *testing.T) {
			tau, err := temperatureOf(&results.Run{Method: c.method, Params: c.params})
			if !scalar.Same(tau, c.want) || err != nil {
				t.Errorf("%s %v: %v, %v; want %v", c.method, c.params, tau, expect.Text(err), c.want)
			}
		})
	}
}

// TestSweepRuns: each value tells how many runs it is the mean of.
func TestSweepRuns(t *testing.T) {
	var runs []*results.Run
	for i, tau := range []float64{1, 1, 1, 5} {
		r := *twoTasks()
		r.ID, r.Method, r.Seed, r.Params = fmt.Sprint("run", i), "emgd-gmc", uint64(i), map[string]any{"tau": tau}
		r.Config = json.RawMessage(`{}`)
		runs = append(runs, &r)
	}
	f, err := Temperature(runs...)
	if err != nil {
		t.Fatal(err)
	}
	var counts []string
	for _, row := range f.Data.Rows {
		counts = append(counts, fmt.Sprint(row[5]))
	}
	if !slices.Equal(counts, []string{"3", "1"}) {
		t.Errorf("runs %v, want 3 and 1", counts)
	}
	normal := *runs[0] // the default temperature, 5, is one more value of the same line
	normal.ID, normal.Params = "normal", nil
	f, err = Temperature(append(slices.Clone(runs[:3]), &normal)...)
	switch {
	case err != nil:
		t.Error(err)
	case len(f.Key) != 1:
		t.Errorf("len(f.Key) is %d; want 1", len(f.Key))
	case len(f.Data.Rows) != 2:
		t.Errorf("len(f.Data.Rows) is %d; want 2", len(f.Data.Rows))
	}
}

// TestNoSweepWithoutALine: a figure in which no method has two values would show nothing.
func TestNoSweepWithoutALine(t *testing.T) {
	for name, c := range map[string]struct {
		taus map[string][]float64
		want string
	}{
		"one temperature per method": {map[string][]float64{"emgd": {1.5}, "emgd-gmc": {5}}, "no method"},
		"one in all":                 {map[string][]float64{"emgd": {2}, "emgd-gmc": {2}}, "want at least two"},
		"two of one method":          {map[string][]float64{"emgd": {1, 2}, "emgd-gmc": {5}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []*results.Run
			for method, taus := range c.taus {
				for _, tau := range taus {
					r := *twoTasks()
					r.ID, r.Method, r.Params = fmt.Sprint(method, tau), method, map[string]any{"tau": tau}
					r.Config = json.RawMessage(`{}`)
					runs = append(runs, &r)
				}
			}
			_, err := Temperature(runs...)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", expect.Text(err), c.want)
			}
		})
	}
}

// TestPanelsAgreeOnStyles: a method that only one of the panels has does not change how the others
// look.
func TestPanelsAgreeOnStyles(t *testing.T) {
	a, b := repetitions{Method: "emgd-gmc+er-ace", Label: "a"}, repetitions{Method: "emgd-gmc+der-pp", Label: "b"}
	all, alone := []repetitions{a, b, b}, []repetitions{a}
	dress(all)
	dress(alone)
	switch first := all[0].Style.Color; {
	case first == all[1].Style.Color:
		t.Errorf("first and all[1].Style.Color are both %v", first)
	case all[1].Style.Color != all[2].Style.Color:
		t.Errorf("all[1].Style.Color is %v; want %v", all[1].Style.Color, all[2].Style.Color)
	case first != alone[0].Style.Color:
		t.Errorf("first is %v; want %v", first, alone[0].Style.Color)
	}
}

// TestEndsThatDifferByRounding: no axis is so short that its ticks cannot be told apart.
func TestEndsThatDifferByRounding(t *testing.T) {
	r := *twoTasks()
	r.Curve = []results.Point{{Step: 3, Ended: []int{1}, Mean: .45},
		{Step: 7, Ended: []int{2}, Mean: math.Nextafter(.45, 1)}}
	f, err := LearningProcess(&r)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Encode(io.Discard, "svg"); err != nil {
		t.Error(err)
	}
	if ticks := (Ticks{N: 4}).Ticks(1, math.Nextafter(1, 2)); len(ticks) > 0 {
		t.Errorf("%d ticks between two neighbouring numbers", len(ticks))
	}
}

// TestMemorySizeTellsTemperaturesApart: runs of other temperatures are other lines, and not more
// runs of one.
func TestMemorySizeTellsTemperaturesApart(t *testing.T) {
	var runs []*results.Run
	for i, tau := range []float64{1, 5, 1, 5} {
		r := *twoTasks()
		r.ID, r.Method, r.Params = fmt.Sprint("run", i), "emgd-gmc", map[string]any{"tau": tau}
		r.Config = json.RawMessage(fmt.Sprintf(`{"memory": {"policy": "per_class", "budget": %d}}`, 1+i/2))
		runs = append(runs, &r)
	}
	f, err := MemorySize(runs...)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Data.Rows) != 4 {
		t.Errorf("%d points %v, want 4", len(f.Data.Rows), f.Data.Rows)
	}
}

package results_test

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestMetrics: every metric has a name of its own; metrics that are not fields of a run are NaN for
// a run without tasks, as a CSV file has it.
func TestMetrics(t *testing.T) {
	seen := map[string]bool{}
	for i, m := range results.Metrics {
		t.Run(m.Name, func(t *testing.T) {
			switch {
			case m.Name == "":
				t.Error("m.Name is empty")
			case seen[m.Name]:
				t.Error("seen[m.Name] is true")
			case results.MetricNamed(m.Name) != m:
				t.Errorf("the name %q is not its own", m.Name)
			}
			seen[m.Name] = true
			if got := m.Of(new(results.Run)); i >= 3 && !math.IsNaN(got) {
				t.Errorf("without tasks it is %g; want NaN", got)
			}
		})
	}
	if m := results.MetricNamed("none"); m != nil {
		t.Errorf("a metric that is not there is %+v", m)
	}
}

// TestFirstMetrics: the first three are the fields of a run, in the order of tables.
func TestFirstMetrics(t *testing.T) {
	r := &results.Run{A: 1, F: 2, AFirst: 3}
	for i, want := range []string{"A", "F", "A_first"} {
		t.Run(want, func(t *testing.T) {
			if m := results.Metrics[i]; m.Name != want || m.Of(r) != float64(i+1) {
				t.Errorf("metric %d is %s, %g; want %s, %d", i, m.Name, m.Of(r), want, i+1)
			}
		})
	}
}

package versus_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
)

// TestGuess: among the classes of each task, or among all, of which two tasks may share some.
func TestGuess(t *testing.T) {
	for name, c := range map[string]struct {
		increment string
		classes   [][]int
		want      float64
	}{
		"task":   {"task", [][]int{{0, 1}, {2, 3, 4, 5}}, 37.5},
		"class":  {"class", [][]int{{0, 1}, {2, 3, 4, 5, 6, 7, 8, 9}}, 10},
		"shared": {"class", [][]int{{0, 1, 2}, {2, 3}}, 25},
	} {
		t.Run(name, func(t *testing.T) {
			r := &results.Run{Increment: c.increment}
			for _, classes := range c.classes {
				r.Tasks = append(r.Tasks, results.Task{Classes: classes})
			}
			if got := versus.Guess(r); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%g, want %g", got, c.want)
			}
			table := of(runs(9), "")[0]
			table.Bound([]*results.Run{r, r})
			var text bytes.Buffer
			if err := versus.Text(&text, []*versus.Table{table}); err != nil ||
				!strings.Contains(text.String(), "\n(guessing) ") {
				t.Errorf("%v, no row for guessing in\n%s", expect.Text(err), &text)
			}
		})
	}
}

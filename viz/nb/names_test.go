package nb

import (
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestNamesByID: tasks keep their names whatever the order in which they begin.
func TestNamesByID(t *testing.T) {
	for want, tasks := range map[string][]results.Task{
		"digits,letters":        {{ID: 1, Name: "digits"}, {ID: 2, Name: "letters"}},
		"letters,digits":        {{ID: 2, Name: "digits"}, {ID: 1, Name: "letters"}},
		",,letters":             {{ID: 3, Name: "letters"}},
		"a (task 1),a (task 2)": {{ID: 1, Name: "a"}, {ID: 2, Name: "a"}},
		"":                      nil,
	} {
		t.Run(want, func(t *testing.T) {
			if got := strings.Join(byID(&results.Run{Tasks: tasks}), ","); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

package method

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// rehearsing are the methods that do more with the memory than weigh its gradient, and parameters
// that make their tests quick and their roles busy.
var rehearsing = map[string]values{
	"gem": nil, "mdmtr": {"distill": 0.5}, "der-pp": nil, "icarl": {"pool": 20}, "gdumb": {"passes": 8},
	"gss": {"subsets": 3, "subset_size": 4}, "mir": {"candidates": 2, "best_loss": true}, "gmed": {"decay": 0.1}, "gmed-release": nil,
	"famo": nil,
}

var perClass, fixedTotal = memory.Config{Policy: memory.PerClass, Budget: 6}, memory.Config{Policy: memory.FixedTotal, Budget: 30}

// TestRunsRepeatAndResume plays a run twice, and saved and restored in its middle: parameters and
// memory are the same, and the budget is kept.
func TestRunsRepeatAndResume(t *testing.T) {
	for name, p := range rehearsing {
		for _, c := range []memory.Config{perClass, fixedTotal} {
			want := run(t, name, p, c, 0)
			if n := want.store.Len(); n != 36 && c == perClass || n != 30 && c == fixedTotal {
				t.Errorf("%s: %d samples under %v", name, n, c)
			}
			for _, stop := range []int{0, 3, 11, 16} {
				got := run(t, name, p, c, stop)
				if !slices.Equal(got.at[rehearsal.Now], want.at[rehearsal.Now]) {
					t.Errorf("%s: saved before step %d, the parameters differ", name, stop)
				}
				if !reflect.DeepEqual(got.store.Items(everyIndex(got.store)), want.store.Items(everyIndex(want.store))) {
					t.Errorf("%s: saved before step %d, the memory differs", name, stop)
				}
				if a, b := got.accuracy(t), want.accuracy(t); a != b {
					t.Errorf("%s: saved before step %d, the accuracy is %g, not %g", name, stop, a, b)
				}
			}
		}
	}
}

// TestRunsLearn: six classes are told apart after a run, by chance one in six. GSS rehearses the
// running task too, so that the last one outweighs the others in so short a run.
func TestRunsLearn(t *testing.T) {
	for name, p := range rehearsing {
		least := 0.6
		if name == "gss" {
			least = 0.4
		}
		if got := run(t, name, p, perClass, 0).accuracy(t); got < least {
			t.Errorf("%s: accuracy %g, want %g", name, got, least)
		}
	}
}

// TestWithoutMemory: a budget of 0 leaves the tasks' mean, or nothing to learn from.
func TestWithoutMemory(t *testing.T) {
	none := memory.Config{Policy: memory.PerClass}
	for name, p := range rehearsing {
		l := run(t, name, p, none, 0)
		if l.store.Len() != 0 {
			t.Errorf("%s stored %d samples", name, l.store.Len())
		}
		if want := run(t, "er", nil, none, 0); !slices.Contains([]string{"mdmtr", "icarl", "gdumb", "famo"}, name) && !slices.Equal(l.at[rehearsal.Now], want.at[rehearsal.Now]) {
			t.Errorf("%s: without memory it does not train as ER", name)
		}
		l.accuracy(t)
	}
}

// TestMemoryRowWeights weighs two memory rows beside two tasks, and each kind alone.
func TestMemoryRowWeights(t *testing.T) {
	s := sample{rows: gaussian(newLife().rng, 4, 3), losses: []float64{1, 1, 1, 1}}.step(1)
	for name, share := range map[string]float64{"mdmtr": .5, "der-pp": 1, "icarl": .5, "gss": .5, "mir": 1, "gmed": .5, "gmed-release": .5} {
		for _, c := range []struct {
			ids  []int
			want []float64
		}{
			{[]int{0, -1, 1, 5}, []float64{share, share, share / 2, share / 2}},
			{[]int{1, 2, 3, 4}, []float64{.25, .25, .25, .25}},
			{[]int{0, -1, -2, -3}, []float64{.25, .25, .25, .25}},
		} {
			s.IDs = c.ids
			if w := weigh(t, build(t, name, nil), s); !slices.Equal(w, c.want) {
				t.Errorf("%s for rows %v: %v, want %v", name, c.ids, w, c.want)
			}
		}
	}
}

func TestBadValuesOfRehearsal(t *testing.T) {
	for _, c := range []struct {
		method, param string
		value         any
	}{
		{"famo", "lr", 2}, {"famo", "decay", -1}, {"famo", "eps", 0}, {"gem", "margin", -1}, {"gem", "eps", math.Inf(1)},
		{"mdmtr", "class_margin", -1}, {"mdmtr", "task_margin", 4}, {"mdmtr", "sharpness", 0}, {"mdmtr", "distill", -1},
		{"der-pp", "alpha", -1}, {"der-pp", "beta", math.Inf(1)}, {"icarl", "pool", 0}, {"icarl", "pool", 2.5},
		{"gdumb", "passes", 0}, {"gdumb", "passes", 1.5}, {"gdumb", "cutmix", 2}, {"gdumb", "lr", 0}, {"gdumb", "min_lr", 1},
		{"gss", "subsets", 0}, {"gss", "subset_size", 0.5}, {"gss", "threshold", 2}, {"mir", "candidates", 0.5}, {"mir", "gamma", -1},
		{"gmed", "alpha", -1}, {"gmed", "beta", -1}, {"gmed", "decay", 2}, {"gmed", "gamma", -1}, {"gmed-release", "alpha", -1},
	} {
		if _, err := New(c.method, values{c.param: c.value}); err == nil || !strings.Contains(err.Error(), c.param) {
			t.Errorf("%s %s=%v: error %v", c.method, c.param, c.value, err)
		}
	}
}

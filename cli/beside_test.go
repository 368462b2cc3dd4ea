package cli

import (
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestAtOnce: what all tasks at once take is at most a fifth of the runs of each increment, in
// passes.
func TestAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		methods, situations int
		increments          []string
		runs, passes        int
	}{
		"too few":         {2, 2, []string{"class"}, 0, 0},
		"one pass":        {1, 5, []string{"class"}, 1, 1},
		"two methods":     {2, 9, []string{"class"}, 1, 3},
		"three methods":   {3, 9, []string{"class"}, 1, 4},
		"both increments": {3, 9, []string{"task", "class"}, 2, 4},
		"many methods":    {12, 9, []string{"task"}, 5, 4},
		"few situations":  {40, 2, []string{"task"}, 2, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var all []experiment.Checked
			for _, increment := range c.increments {
				for i := range c.situations {
					for range c.methods {
						config := experiment.DefaultConfig("glyphs")
						config.Increment, config.LabelSet, config.Timeline = increment, uint64(i), uint64(i)
						config.Epochs = 2
						all = append(all, must.Get(config.Check())(t))
					}
				}
			}
			made := must.Get(atOnce(all))(t)
			if len(made) != c.runs {
				t.Fatalf("%d runs, want %d", len(made), c.runs)
			}
			seen := map[string]bool{}
			for _, one := range made {
				if config := one.Config(); config.Epochs != 2*c.passes || config.Method != "avggrad" || seen[one.ID()] {
					t.Errorf("%+v", config)
				}
				seen[one.ID()] = true
			}
		})
	}
}

// TestBesideSeconds: what may be spent beside the methods is a share of their time, less what was.
func TestBesideSeconds(t *testing.T) {
	run := func(seconds float64, variant string) *results.Run {
		return &results.Run{Variant: variant, Measured: results.Measured{TrainSeconds: seconds}}
	}
	if got := besideSeconds([]*results.Run{run(60, ""), run(40, ""), run(18, "joint beside")}); got < 11.9 || got > 12.1 {
		t.Errorf("%g seconds, want 12", got)
	}
}

// TestWithFeatures: flags that only a network of pixels has are left out of the command on
// features.
func TestWithFeatures(t *testing.T) {
	for given, want := range map[string]string{
		"compare folder:a b c":                              "pcl compare folder:a b c --features efficientnet-lite0",
		"compare --model resnet18 folder:a b c --width=8":   "pcl compare folder:a b c --features efficientnet-lite0",
		"compare folder:a b --release c --augment flip -j2": "pcl compare folder:a b c -j2 --features efficientnet-lite0",
		"compare --lr 0.1 folder:a b c --memory 5":          "pcl compare folder:a b c --memory 5 --features efficientnet-lite0",
	} {
		if got := withFeatures(strings.Fields(given)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

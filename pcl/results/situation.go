package results

import (
	"hash/fnv"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Benchmark is the data set and the increment of runs that can be compared with each other.
type Benchmark struct{ Dataset, Increment string }

// String is such as "glyphs, class-incremental".
func (b Benchmark) String() string { return b.Dataset + ", " + b.Increment + "-incremental" }

// Benchmark returns the data set and the increment of the run.
func (r *Run) Benchmark() Benchmark { return Benchmark{r.Dataset, r.Increment} }

// Trial returns the label set, the timeline and the seed of the run. Runs of one benchmark and one
// trial saw the same tasks at the same steps. A scenario that was written by hand is a label set of
// its own.
func (r *Run) Trial() stats.Trial {
	labelSet := r.LabelSet
	if played := r.OwnScenario(); played != "" {
		h := fnv.New64a()
		h.Write([]byte(played))
		labelSet = h.Sum64()
	}
	return stats.Trial{Situation: stats.Situation{LabelSet: labelSet, Timeline: r.Timeline}, Seed: r.Seed}
}

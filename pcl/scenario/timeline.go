package scenario

import (
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/seed"
)

// Kind says how the streams follow or overlap each other in time.
type Kind string

const (
	// Parallel streams start at random while an earlier one still runs.
	Parallel Kind = "parallel"
	// Serial streams follow one another: serial continual learning.
	Serial Kind = "serial"
	// AllAtOnce streams start together: multi-task learning.
	AllAtOnce Kind = "all_at_once"
)

// starts returns the first step of each stream, given how many steps each lasts (docs/protocol.md §1.3):
// for Parallel s₁ = 0 and s_t ~ U{s_{t−1} … max_{k<t} e_k}, so that there is never a gap.
func starts(durations []int, kind Kind, timeline uint64) []int {
	starts := make([]int, len(durations))
	rng := seed.New(timeline, "timeline")
	last := -1 // the latest end so far
	for t, d := range durations {
		switch {
		case t == 0:
		case kind == Parallel:
			starts[t] = starts[t-1] + rng.IntN(last-starts[t-1]+1)
		case kind == Serial:
			starts[t] = last + 1
		case kind != AllAtOnce:
			fail.Now("kind %q is none of %q, %q, %q", kind, Parallel, Serial, AllAtOnce)
		}
		last = max(last, starts[t]+d-1)
	}
	return starts
}

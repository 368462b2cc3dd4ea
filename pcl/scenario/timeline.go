package scenario

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// starts returns the first step of each stream, given how many steps each lasts (docs/protocol.md
// §1.3): for "parallel" s₁ = 0 and s_t ~ U{s_{t−1} … max_{k<t} e_k}, so that there is never a gap.
func starts(durations []int, kind string, timeline uint64) ([]int, error) {
	starts := make([]int, len(durations))
	rng := seed.New(timeline, "timeline")
	last := -1 // the latest end so far
	for t, d := range durations {
		switch {
		case t == 0:
		case kind == "parallel":
			starts[t] = starts[t-1] + rng.IntN(last-starts[t-1]+1)
		case kind == "serial":
			starts[t] = last + 1
		case kind != "all_at_once":
			return nil, fmt.Errorf("kind %q is none of parallel, serial, all_at_once, joint", kind)
		}
		last = max(last, starts[t]+d-1)
	}
	return starts, nil
}

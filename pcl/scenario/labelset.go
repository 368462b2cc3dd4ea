package scenario

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// labelSets cuts the classes 0…classes−1 into tasks of lo to hi classes each, every class in
// exactly one (docs/protocol.md §1.2): sizes are drawn one after another, each within what leaves
// the rest feasible; then sizes and class ids are shuffled.
func labelSets(classes, tasks, lo, hi int, labelset uint64) ([][]int, error) {
	if tasks < 1 || tasks > classes || lo < 1 || lo > classes || hi < lo || tasks*lo > classes ||
		tasks*min(hi, classes) < classes {
		return nil, fmt.Errorf("%d classes cannot be cut into %d tasks of %d to %d classes%s",
			classes, tasks, lo, hi, feasible(classes, tasks, lo, hi))
	}
	rng := seed.New(labelset, "labelset", classes, tasks, lo, hi)
	hi = min(hi, classes)
	sizes := make([]int, tasks)
	rest := classes
	for t := range sizes {
		after := tasks - 1 - t
		least := max(lo, rest-hi*after)
		most := min(hi, rest-lo*after)
		sizes[t] = least + rng.IntN(most-least+1)
		rest -= sizes[t]
	}
	rng.Shuffle(tasks, func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	ids := rng.Perm(classes)
	sets := make([][]int, tasks)
	for t, n := range sizes {
		sets[t], ids = ids[:n:n], ids[n:]
	}
	return sets, nil
}

// feasible says what could be asked for instead.
func feasible(classes, tasks, lo, hi int) string {
	text := ""
	if 1 <= lo && lo <= hi && (classes+hi-1)/hi <= classes/lo {
		text = fmt.Sprintf("; want %s tasks (tasks)", between((classes+hi-1)/hi, classes/lo))
	}
	if 1 <= tasks && tasks <= classes {
		text += fmt.Sprintf("; want tasks of %s classes (min_classes, max_classes)",
			between(min(lo, classes/tasks), max(hi, (classes+tasks-1)/tasks)))
	}
	return text
}

func between(lo, hi int) string {
	if lo == hi {
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}

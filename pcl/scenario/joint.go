package scenario

import "slices"

// Joint is the kind of a scenario that has one task, with the samples of all tasks of a label set
// in one stream. What a network learns of it is a bound of what it can learn of the tasks one by
// one (docs/protocol.md §3.6).
const Joint = "joint"

// joined returns one task with all samples of the classes of tasks. A class that was divided among
// tasks is whole in it.
func joined(tasks []Task) (all Task) {
	for _, t := range tasks {
		for _, c := range t.Classes {
			if !slices.Contains(all.Classes, c) {
				all.Classes = append(all.Classes, c)
			}
		}
	}
	return all
}

package rehearsal

import (
	"fmt"
	"maps"
	"slices"
)

// Means are the class means by which the part [NearestMean] predicts, in a form that can be saved.
type Means struct {
	// Between says that only predictions among the classes of several tasks are made by means.
	Between bool        `json:"between_tasks_only,omitempty"`
	Classes []int       `json:"classes"` // that have a mean, in ascending order
	Tasks   [][]int     `json:"tasks"`   // of the samples of each of these classes
	Values  [][]float32 `json:"-"`       // the mean of each of these classes, of length 1
}

// MeansOf returns the means of a rule, or nil if the rule is not [NearestMean]'s.
func MeansOf(r Rule) *Means {
	m, ok := r.(*nearestMean)
	if !ok {
		return nil
	}
	out := &Means{Between: m.between, Classes: slices.Sorted(maps.Keys(m.means))}
	for _, c := range out.Classes {
		mean := make([]float32, len(m.means[c]))
		for i, x := range m.means[c] {
			mean[i] = float32(x)
		}
		out.Tasks, out.Values = append(out.Tasks, slices.Clone(m.tasks[c])), append(out.Values, mean)
	}
	return out
}

// Check returns an error unless there are tasks and a mean, all of one length, for each class. The means of a network that has
// diverged pass: they are not finite, but can be saved.
func (m *Means) Check() error {
	if len(m.Tasks) != len(m.Classes) || len(m.Values) != len(m.Classes) {
		return fmt.Errorf("class means: %d classes, tasks of %d and values of %d; want as many of each", len(m.Classes), len(m.Tasks), len(m.Values))
	}
	for i, mean := range m.Values {
		if len(mean) == 0 {
			return fmt.Errorf("the mean of class %d has no entries", m.Classes[i])
		}
		if i > 0 && m.Classes[i] <= m.Classes[i-1] {
			return fmt.Errorf("the mean of class %d follows that of class %d; want each class once, in ascending order", m.Classes[i], m.Classes[i-1])
		}
		if len(mean) != len(m.Values[0]) {
			return fmt.Errorf("the mean of class %d has %d entries, that of class %d has %d", m.Classes[i], len(mean), m.Classes[0], len(m.Values[0]))
		}
	}
	return nil
}

// Apply reports whether any prediction is made by the means. Means that are only for comparisons between tasks are not used
// while one task has samples of all classes.
func (m *Means) Apply() bool {
	return len(m.Classes) > 0 && !(m.Between && m.Rule().(*nearestMean).oneTask(m.Classes))
}

// Rule returns the rule that predicts by the means, which must pass [Means.Check].
func (m *Means) Rule() Rule {
	out := &nearestMean{between: m.Between, means: map[int][]float64{}, tasks: map[int][]int{}}
	for i, c := range m.Classes {
		out.means[c], out.tasks[c] = float64s(m.Values[i]), slices.Clone(m.Tasks[i])
	}
	return out
}

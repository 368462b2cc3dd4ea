package rehearsal

import (
	"maps"
	"slices"
)

// Means are the class means by which the part [NearestMean] predicts, in a form that can be saved.
type Means struct {
	// BetweenTasks says that only predictions among the classes of several tasks are made by means.
	BetweenTasks bool        `json:"between_tasks_only,omitempty"`
	Classes      []int       `json:"classes"` // that have a mean, in ascending order
	Tasks        [][]int     `json:"tasks"`   // of the samples of each of these classes
	Values       [][]float32 `json:"-"`       // the mean of each of these classes, of length 1
}

// MeansOf returns the means by which the scorer of [NearestMean] predicts. They are nil if it makes
// no prediction by them: if there are none, or if they are only for comparisons between tasks and
// one task has samples of all classes. known is false for other scorers.
func MeansOf(s Scorer) (out *Means, known bool) {
	m, ok := s.(*nearestMean)
	if !ok {
		return nil, false
	}
	out = &Means{BetweenTasks: m.between, Classes: slices.Sorted(maps.Keys(m.means))}
	if len(out.Classes) == 0 || m.between && m.oneTask(out.Classes) {
		return nil, true
	}
	for _, c := range out.Classes {
		mean := make([]float32, len(m.means[c]))
		for i, x := range m.means[c] {
			mean[i] = float32(x)
		}
		out.Tasks, out.Values = append(out.Tasks, slices.Clone(m.tasks[c])), append(out.Values, mean)
	}
	return out, true
}

// Scorer returns the scorer that predicts by the means.
func (m *Means) Scorer() Scorer {
	out := &nearestMean{between: m.BetweenTasks, means: map[int][]float64{}, tasks: map[int][]int{}}
	for i, c := range m.Classes {
		out.means[c], out.tasks[c] = float64s(m.Values[i]), slices.Clone(m.Tasks[i])
	}
	return out
}

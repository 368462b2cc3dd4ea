package pcl

import "context"

// Stored returns how many samples of each task the rehearsal memory has, by the task's id.
func (l *Learner) Stored() (map[int]int, error) {
	return callFor(context.Background(), l, "memory", func() (map[int]int, error) {
		byTask := map[int]int{}
		for _, it := range l.memory.Samples() {
			byTask[it.Task]++
		}
		return byTask, nil
	})
}

package pcl

import (
	"fmt"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// Evaluate returns the accuracy, in [0,1], of a task on its test samples: predictions choose among
// the task's classes, or in class-incremental mode among all classes that have arrived.
func (l *Learner) Evaluate(id int) (float64, error) {
	if id < 1 || id > len(l.tasks) {
		return 0, fmt.Errorf("pcl: evaluate: there is no task %d; %d have arrived", id, len(l.tasks))
	}
	t := l.tasks[id-1]
	if t.Test == nil || t.Test.Len() == 0 {
		return 0, fmt.Errorf("pcl: evaluate: task %d (%s) was attached without test samples", id, t.Name)
	}
	right := 0
	b := newHostBatch(l.options.Batch, l.options.Model.Inputs())
	for from := 0; from < t.Test.Len(); from += l.options.Batch {
		n, err := l.countRight(t, b, from)
		if err != nil {
			return 0, fmt.Errorf("pcl: evaluate task %d: %w", id, err)
		}
		right += n
	}
	return float64(right) / float64(t.Test.Len()), nil
}

// countRight predicts one batch of test samples, from the given one on.
func (l *Learner) countRight(t *task, b *hostBatch, from int) (int, error) {
	width := l.options.Model.Inputs()
	b.N = min(len(b.Class), t.Test.Len()-from)
	for i := range b.N {
		b.Class[i] = t.Test.Sample(from+i, b.X[i*width:(i+1)*width])
		b.task[i] = t.id
	}
	if err := b.target(l.slots); err != nil {
		return 0, err
	}
	in, err := b.upload(l.options.Backend)
	if err != nil {
		return 0, err
	}
	defer program.Free(in...)
	out, err := l.programs.predict.Call(append([]compute.Buffer{l.theta}, in...)...)
	if err != nil {
		return 0, err
	}
	defer program.Free(out...)
	predicted := make([]int32, len(b.Class))
	if err := program.ToHost(predicted, out[0]); err != nil {
		return 0, err
	}
	right := 0
	for i := range b.N {
		if predicted[i] == b.output[i] {
			right++
		}
	}
	return right, nil
}

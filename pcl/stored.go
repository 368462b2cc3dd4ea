package pcl

import "fmt"

// checkStored returns an error if what a method has put into the memory cannot be trained on. before is the memory's
// count of changes before the method was called; if it is the same now, there is nothing to check.
func (l *Learner) checkStored(before int) error {
	if l.memory.Changes() == before {
		return nil
	}
	width, outputs := l.options.spec().Width(), l.options.Model.Outputs()
	for i := range l.memory.Len() {
		it := l.memory.Item(i)
		if len(it.Pixels) != width {
			return fmt.Errorf("%s stored a sample of %d values: want %d", l.byMethod(), len(it.Pixels), width)
		}
		if len(it.Logits) > outputs {
			return fmt.Errorf("%s stored a sample with %d logits: want at most %d, one for each output", l.byMethod(), len(it.Logits), outputs)
		}
		if _, err := l.heads.Output(it.Task, it.Class); err != nil {
			return fmt.Errorf("%s stored a sample of class %d for task %d, which has no such class", l.byMethod(), it.Class, it.Task)
		}
	}
	return nil
}

package pcl

import (
	"context"
	"fmt"
	"iter"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// Unlearn makes the learner forget a task that has ended: its sums, weights and predictions become,
// bit by bit, those of a learner to which the task never came (docs/method.md §12.3). The task's
// classes that no other task has are not predicted any more. Only methods that learn from sums can
// do that, such as lda.
//
// samples are all samples that the task's streams have delivered, in any order; nil stands for the
// sums that the method keeps with its parameter keep. If they are not the task's, Unlearn returns
// an error and nothing changes.
func (l *Learner) Unlearn(task int, samples data.Samples) error {
	return l.call(context.Background(), "unlearn", func() error {
		m := l.method.Analytic
		known, err := l.tasks.registry.get(task)
		switch {
		case err != nil:
			return err
		case m == nil:
			return fmt.Errorf(
				"%s learns by gradients, of which nothing can be taken back; lda, for example, learns from sums",
				byMethod(l.method))
		case l.tasks.running.get(task) != nil:
			return fmt.Errorf("%s has not ended; detach it first", label(task, known.Name))
		}
		of, outside, err := l.samplesOf(samples)
		if err != nil {
			return err
		}
		if err := guarded("the method", func() error { return m.Unlearn(task, of) }); err != nil {
			return err
		}
		l.version++
		l.prediction.outdate()
		if f := l.options.Features; f != nil && outside != nil {
			if err := guarded("Options.Features", func() error { return f.Forget(outside) }); err != nil {
				return fmt.Errorf("%s is unlearnt, but what is kept of its samples is not removed: %w",
					label(task, known.Name), err)
			}
		}
		return nil
	})
}

// Sums returns what a method that learns from sums remembers, which has the same bytes whatever the
// order of the samples; nil for other methods.
func (l *Learner) Sums() ([]byte, error) {
	return callFor(context.Background(), l, "sums", func() ([]byte, error) {
		if l.method.Analytic == nil {
			return nil, nil
		}
		_, state, err := methodState(l.method, l.rng)
		return state, err
	})
}

// MemoryBytes returns how large the stored samples are, with what is stored beside them, and the
// sums that a method learns from.
func (l *Learner) MemoryBytes() (samples, sums int, err error) {
	err = l.call(context.Background(), "memory", func() error {
		for _, it := range l.memory.Samples() {
			samples += 4 * (len(it.Pixels) + len(it.Logits) + len(it.Original))
		}
		if m := l.method.Analytic; m != nil {
			sums = m.Bytes()
		}
		return nil
	})
	return samples, sums, err
}

// samplesOf yields the class and the features of samples, and returns their values as they came;
// nil for none.
func (l *Learner) samplesOf(s data.Samples) (of iter.Seq2[int, []float32], outside []float32, err error) {
	if s == nil {
		return nil, nil, nil
	}
	width := l.options.inputs()
	var classes []int
	if err := guarded("reading the samples", func() error {
		classes, outside = make([]int, s.Len()), make([]float32, s.Len()*width)
		for i := range classes {
			classes[i] = s.Sample(i, outside[i*width:(i+1)*width])
		}
		return nil
	}); err != nil {
		return nil, nil, err
	}
	x, err := describe(l.options.Features, outside)
	wide := l.options.Model.Inputs()
	return func(yield func(int, []float32) bool) {
		for i, c := range classes {
			if !yield(c, x[i*wide:(i+1)*wide]) {
				return
			}
		}
	}, outside, err
}

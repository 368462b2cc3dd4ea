package pcl

import (
	"context"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// ClassCount says how many test samples of a class there are, and how many are predicted correctly.
type ClassCount struct {
	Class, Test, Right int
}

// Evaluate returns the accuracy, from 0 to 1, on the test samples of the task with the given id. A
// prediction chooses among the task's own classes or, in class-incremental mode, among all classes
// that have arrived.
func (l *Learner) Evaluate(id int) (float64, error) {
	counts, err := l.EvaluateByClass(id)
	if err != nil {
		return 0, err
	}
	right, n := 0, 0
	for _, c := range counts {
		right += c.Right
		n += c.Test
	}
	return float64(right) / float64(n), nil
}

// EvaluateByClass is [Learner.Evaluate] with the counts of each of the task's classes, in their
// order.
func (l *Learner) EvaluateByClass(id int) ([]ClassCount, error) {
	return callFor(context.Background(), l, "evaluate", func() ([]ClassCount, error) {
		t, n, err := l.tested(id)
		if err != nil {
			return nil, err
		}
		if l.options.compared() != nil {
			return nil, fmt.Errorf("loss %s has no classes to predict; call EvaluateLoss", keyOf(l.options.Loss))
		}
		at, rule, err := l.rule()
		if err != nil {
			return nil, err
		}
		return l.evaluator().count(id, t, n, at, rule)
	})
}

// EvaluateLoss returns the mean loss of the test samples of the task with the given id.
// Batch normalisation uses the running statistics, as in [Learner.Evaluate].
func (l *Learner) EvaluateLoss(id int) (float64, error) {
	return callFor(context.Background(), l, "evaluate", func() (sum float64, err error) {
		t, n, err := l.tested(id)
		if err != nil {
			return 0, err
		}
		sum, err = l.evaluator().loss(id, t.Test, n)
		return sum / float64(n), err
	})
}

// Features returns, for each sample, its features and its class id. The features are the input of
// the classifier at the current parameters. Batch normalisation uses the running statistics, as in
// [Learner.Evaluate].
func (l *Learner) Features(s data.Samples) (features [][]float64, class []int, err error) {
	err = l.call(context.Background(), "features", func() error {
		n, err := sizeOf(s)
		if err != nil {
			return err
		}
		features, class, err = l.evaluator().features(s, n)
		return err
	})
	return features, class, err
}

// tested returns the task with the given id and the number of its test samples, of which there must
// be some. Len is called once, since it is the user's code.
func (l *Learner) tested(id int) (t *Task, n int, err error) {
	known, err := l.tasks.registry.get(id)
	if err != nil {
		return nil, 0, err
	}
	t = &known.Task
	if t.Test != nil {
		if n, err = sizeOf(t.Test); err != nil {
			return nil, 0, err
		}
	}
	if n <= 0 {
		return nil, 0, fmt.Errorf("%s was attached without test samples", label(id, t.Name))
	}
	return t, n, nil
}

func sizeOf(s data.Samples) (_ int, err error) {
	defer recovered(&err, "counting the samples panicked")
	return s.Len(), nil
}

func (l *Learner) evaluator() evaluator {
	return evaluator{
		batch: l.options.Batch, scores: lossOf(l.method, method.MemoryID), network: l.network, tasks: l.tasks,
		targets: l.targets(), outside: l.options.Features,
	}
}

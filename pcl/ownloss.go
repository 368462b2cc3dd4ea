package pcl

import (
	"errors"
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// validateLoss returns an error if the method's losses contradict themselves, or only make sense for the cross-entropy
// of classes and there is another loss.
func (o Options) validateLoss() error {
	for _, id := range []int{method.Memory, 1} {
		if err := o.lossOf(id).Validate(); err != nil {
			return fmt.Errorf("method %s has %w", o.Method.Info().Name, err)
		}
	}
	if o.Loss == nil {
		return nil
	}
	if f, ok := o.Loss.(model.LossFunc); ok && (f.Name == "" || f.F == nil) {
		return errors.New("a model.LossFunc needs a Name, by which compiled programs are kept apart, and a function F")
	}
	name := o.Method.Info().Name
	if n := o.Loss.Targets(); n < 1 || n > o.Model.Outputs() {
		return fmt.Errorf("loss %s has %d target values, the model %d outputs; want at least as many outputs as target values, and at least one of these", o.Loss.Key(), n, o.Model.Outputs())
	}
	if _, ok := method.As[rehearsal.Predictor](o.Method); ok {
		return fmt.Errorf("method %s predicts classes by a rule of its own, which does not go with loss %s: take its rule of weights with another rehearsal, such as emgd-gmc+der-pp", name, o.Loss.Key())
	}
	if _, ok := method.As[rehearsal.Storer](o.Method); ok {
		return fmt.Errorf("method %s chooses what it stores by the loss of classes, which does not go with loss %s: take another one, such as emgd-gmc+der-pp", name, o.Loss.Key())
	}
	if l, ok := method.As[rehearsal.Limited](o.Method); ok && l.Needs().Classes {
		return fmt.Errorf("method %s compares stored outputs as the logits of classes, which does not go with loss %s: leave out x-der, or take refresh", name, o.Loss.Key())
	}
	for _, id := range []int{method.Memory, 1} {
		if l := o.lossOf(id); l.Cosine || l.Teacher > 0 || l.Adjust > 0 || l.Kind == rehearsal.Sigmoid {
			return fmt.Errorf("method %s trains on a loss of classes, which does not go with loss %s: take another one, such as emgd-gmc+der-pp", name, o.Loss.Key())
		}
	}
	return nil
}

// lossKey returns the key of the loss; empty for the cross-entropy of classes.
func (o Options) lossKey() string {
	if o.Loss == nil {
		return ""
	}
	return o.Loss.Key()
}

// fitsLoss returns an error if a new task with these classes does not have one output for each target value.
func (l *Learner) fitsLoss(classes []int) error {
	loss := l.options.Loss
	if loss == nil {
		return nil
	}
	if n := loss.Targets(); len(classes) != n {
		return fmt.Errorf("it has %d classes; with loss %s, classes name the outputs: want %d", len(classes), loss.Key(), n)
	}
	if !l.heads.Adjacent(classes) {
		return fmt.Errorf("some of its classes %v belong to other tasks, and some do not: with loss %s a task has outputs of its own, or those of another one in the same order", classes, loss.Key())
	}
	return nil
}

// checkWeights returns an error if the weights of a batch's samples cannot be used.
func checkWeights(x []float32, n, width int) error {
	total := 0.0
	for i := range n {
		w := float64(x[(i+1)*width-1])
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("sample %d with weight %g; want a number of at least 0", i, w)
		}
		total += w
	}
	if total == 0 {
		return errors.New("a batch in which every sample has weight 0")
	}
	if total > math.MaxFloat32 {
		return fmt.Errorf("a batch whose weights add up to %g, which float32 does not hold", total)
	}
	return nil
}

// EvaluateLoss returns the mean loss of the test samples of the task with the given id, weighted if samples have weights.
// Batch normalisation uses the running statistics, as in [Learner.Evaluate].
func (l *Learner) EvaluateLoss(id int) (loss float64, err error) {
	if err := l.enter(false); err != nil {
		return 0, err
	}
	defer l.leave()
	t, n, err := l.tested(id)
	if err != nil {
		return 0, err
	}
	err = guarded("reading the test samples", func() (err error) { loss, err = l.meanLoss(id, t.Test, n); return err })
	return loss, err
}

// meanLoss is the mean loss of n test samples of a task.
func (l *Learner) meanLoss(id int, test data.Samples, n int) (float64, error) {
	b, err := l.newBatch()
	if err != nil {
		return 0, fmt.Errorf("pcl: evaluate: %w", err)
	}
	defer b.Free()
	sum, weights := 0.0, 0.0
	for from := 0; from < n; from += l.options.Batch {
		if err := b.Read(test, n, from, id); err != nil {
			return 0, fmt.Errorf("pcl: evaluate task %d: its test samples have %w", id, err)
		}
		each, err := l.plainLosses(b)
		if err != nil {
			return 0, fmt.Errorf("pcl: evaluate task %d: %w", id, err)
		}
		width := len(b.X) / len(b.Class)
		for i, x := range each {
			w := 1.0
			if l.options.Weighted {
				w = float64(b.X[(i+1)*width-1])
			}
			if !(w >= 0) || math.IsInf(w, 1) {
				return 0, fmt.Errorf("pcl: evaluate task %d: test sample %d has weight %g; want a number of at least 0", id, from+i, w)
			}
			sum, weights = sum+w*x, weights+w
		}
	}
	if weights == 0 {
		return 0, fmt.Errorf("pcl: evaluate task %d: every test sample has weight 0", id)
	}
	return sum / weights, nil
}

// plainLosses returns the loss of each sample of a batch, without what a method adds to it.
func (l *Learner) plainLosses(b *device.Batch) ([]float64, error) {
	if err := b.Aim(l.heads, rehearsal.Loss{}); err != nil {
		return nil, err
	}
	return l.lossesAt(l.network.theta, b, rehearsal.Loss{})
}

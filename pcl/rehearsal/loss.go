package rehearsal

import (
	"errors"
	"fmt"
)

// Loss says which loss a row is trained on. The zero value stands for the cross-entropy of the outputs that compete.
// Losses that differ only in which outputs compete share one compiled program.
type Loss struct {
	Kind LossKind
	// Scale multiplies the loss; 0 stands for 1.
	Scale float64
	// Distill is α ≥ 0, where α times the mean squared difference between the logits and those that were stored with
	// the samples is added to the loss. It is for losses of the kind CrossEntropy.
	Distill float64
	// Teacher is the weight of a distillation that is added to the loss: the cross-entropy between the softmax of the
	// logits at [Remembered] and that of the present ones, both divided by Temperature, over the outputs of tasks that
	// had ended when [Lab.Remember] was last called. It is for losses of the kind CrossEntropy without Distill.
	Teacher, Temperature float64
	// Adjust is τ ≥ 0, where τ times the logarithm of each class's share of the samples of the present step is added to
	// its logit. It is for losses of the kind CrossEntropy without Distill and without Teacher, and does not change
	// predictions.
	Adjust float64
	// Seen lets the outputs of all tasks that have arrived compete, even in task-incremental mode.
	Seen bool
	// Own lets only the outputs of the sample's own task compete, even in class-incremental mode. It excludes Seen.
	Own bool
	// Cosine replaces each logit by Sharpness times the cosine of the angle between the features and the output's
	// weights. With Frobenius, the weights are divided by the norm of the whole matrix instead of the norm of each
	// output's weights.
	Cosine    bool
	Sharpness float64
	Frobenius bool
	// ClassMargin is added to the angle of the right class, TaskMargin to the angles of all classes of its task, both
	// in radians.
	ClassMargin, TaskMargin float64
}

// NoReference is the reference value of an output that has none: the stored or remembered score with which a loss compares it.
const NoReference = 1e30

// Validate returns an error if the loss contradicts itself.
func (l Loss) Validate() error {
	switch {
	case l.Kind < CrossEntropy || l.Kind > StoredLogits:
		return fmt.Errorf("loss: unknown kind %d", l.Kind)
	case l.Own && l.Seen:
		return errors.New("loss: Own and Seen exclude each other")
	case l.Teacher > 0 && l.Temperature == 0:
		return errors.New("loss: Teacher needs a Temperature above 0")
	case l.Cosine && l.Sharpness == 0:
		return errors.New("loss: Cosine needs a Sharpness above 0")
	}
	references := 0 // a row takes reference values of one kind
	for _, does := range [...]bool{l.Kind != CrossEntropy, l.Distill > 0, l.Teacher > 0, l.Adjust > 0} {
		if does {
			references++
		}
	}
	if references > 1 {
		return errors.New("loss: more than one of Distill, Teacher, Adjust and a Kind other than CrossEntropy; want at most one (of the parts las, lwf, icarl, and der-pp with draws=one, which emgd has)")
	}
	return nil
}

// LossKind is the form of a loss.
type LossKind int

const (
	// CrossEntropy is the cross-entropy of the softmax.
	CrossEntropy LossKind = iota
	// Sigmoid is the binary cross-entropy, summed over the outputs that compete. The target of outputs of tasks that
	// had ended when [Lab.Remember] was last called is the sigmoid of their logit at [Remembered].
	Sigmoid
	// StoredLogits is the mean squared difference between the logits and those that were stored with the samples.
	StoredLogits
)

// Factor returns Scale, or 1 if Scale is not set.
func (l Loss) Factor() float64 {
	if l.Scale == 0 {
		return 1
	}
	return l.Scale
}

package rehearsal

import "errors"

// Loss says which loss a row is trained on. The zero value stands for the cross-entropy of the
// outputs that compete. Losses that differ only in which outputs compete share one compiled
// program.
type Loss struct {
	// Sigmoid takes the binary cross-entropy, summed over the outputs that compete, in place of the
	// cross-entropy of the softmax. The target of outputs of tasks that had ended when
	// [Context.Remember] was last called is the sigmoid of their logit at [Remembered].
	Sigmoid bool
	// StoredLogits takes the mean squared difference between the logits and those that were stored
	// with the samples instead.
	StoredLogits bool
	// Scale multiplies the loss; 0 stands for 1.
	Scale float64
	// Distill is α ≥ 0, where α times the mean squared difference between the logits and those that
	// were stored with the samples is added to the loss. It is for cross-entropies.
	Distill float64
	// Teacher is the weight of a distillation that is added to the loss: the cross-entropy between
	// the softmax of the logits at [Remembered] and that of the present ones, both divided by
	// Temperature, over the outputs of tasks that had ended when [Context.Remember] was last
	// called. It is for cross-entropies without Distill.
	Teacher, Temperature float64
	// Adjust is τ ≥ 0, where τ times the logarithm of each class's share of the samples of the
	// present step is added to its logit. It is for cross-entropies without Distill and without
	// Teacher, and does not change predictions.
	Adjust float64
	// Seen lets the outputs of all tasks that have arrived compete, even in task-incremental mode.
	Seen bool
	// Own lets only the outputs of the sample's own task compete, even in class-incremental mode.
	// It excludes Seen.
	Own bool
	// Cosine replaces each logit by Sharpness times the cosine of the angle between the features
	// and the output's weights. With Frobenius, the weights are divided by the norm of the whole
	// matrix instead of the norm of each output's weights.
	Cosine    bool
	Sharpness float64
	Frobenius bool
	// ClassMargin is added to the angle of the right class, TaskMargin to the angles of all classes
	// of its task, both in radians.
	ClassMargin, TaskMargin float64
}

// NoReference is the reference value of an output that has none: the stored or remembered score
// with which a loss compares it.
const NoReference = 1e30

// Validate returns an error if the loss contradicts itself.
func (l Loss) Validate() error {
	switch {
	case l.Own && l.Seen:
		return errors.New("loss: Own and Seen exclude each other")
	case l.Teacher > 0 && l.Temperature == 0:
		return errors.New("loss: Teacher needs a Temperature above 0")
	case l.Cosine && l.Sharpness == 0:
		return errors.New("loss: Cosine needs a Sharpness above 0")
	}
	references := 0 // a row takes reference values of one kind
	for _, does := range [...]bool{l.Sigmoid, l.StoredLogits, l.Distill > 0, l.Teacher > 0, l.Adjust > 0} {
		if does {
			references++
		}
	}
	if references > 1 {
		return errors.New("loss: more than one of Sigmoid, StoredLogits, Distill, Teacher and Adjust; want at most one (of " +
			"the parts las, lwf, icarl, and der-pp with draws=one, which emgd has)")
	}
	return nil
}

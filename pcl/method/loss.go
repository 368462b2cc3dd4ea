package method

// Loss says which loss a row is trained on. The zero value is cross-entropy among the competing outputs.
// Equal losses share one compiled program.
type Loss struct {
	Kind LossKind
	// Scale multiplies the loss; 0 stands for 1.
	Scale float64
	// Seen lets the outputs of all tasks that have arrived compete, in task-incremental mode too.
	Seen bool
	// Cosine replaces the logit by s·cos of the angle between the features and the output's weights, with s =
	// Sharpness. With Frobenius, the weights are divided by the norm of the whole matrix instead of each
	// output's own.
	Cosine    bool
	Sharpness float64
	Frobenius bool
	// ClassMargin and TaskMargin are added to the angles of the right class and of its task, in radians.
	ClassMargin, TaskMargin float64
}

// LossKind is the form of a loss.
type LossKind int

const (
	// CrossEntropy is that of the softmax.
	CrossEntropy LossKind = iota
	// Sigmoid is binary cross-entropy, summed over the competing outputs. Outputs of tasks that had ended
	// when [Lab.Remember] was last called have the sigmoid of the logits at [Remembered] as their target.
	Sigmoid
	// StoredLogits is the mean squared difference to the logits that were stored with the samples.
	StoredLogits
)

// Factor is Scale, or 1 if none is set.
func (l Loss) Factor() float64 {
	if l.Scale == 0 {
		return 1
	}
	return l.Scale
}

package method

// Loss says what a row is trained on. The zero value is cross-entropy among the outputs that compete.
// Losses that are equal share one compiled program.
type Loss struct {
	Kind LossKind
	// Scale multiplies the loss; 0 stands for 1.
	Scale float64
	// Seen lets all outputs that have arrived compete, also in task-incremental mode.
	Seen bool
	// Cosine takes s·cos of the angle between features and the output's weights for the logit,
	// s = Sharpness; with Frobenius the weights are divided by the norm of their whole matrix instead.
	Cosine    bool
	Sharpness float64
	Frobenius bool
	// ClassMargin and TaskMargin are added to the angles of the right class and of its task, in radians.
	ClassMargin, TaskMargin float64
}

// LossKind is the form of a loss.
type LossKind int

const (
	// CrossEntropy is the softmax's.
	CrossEntropy LossKind = iota
	// Sigmoid is binary cross-entropy, summed over the outputs that compete; outputs of tasks that were
	// over when [Lab.Remember] was last called have the sigmoid of the logits at [Remembered] as target.
	Sigmoid
	// StoredLogits is the mean squared difference to the logits that were stored with the samples.
	StoredLogits
)

// Factor is Scale, or 1 where none is set.
func (l Loss) Factor() float64 {
	if l.Scale == 0 {
		return 1
	}
	return l.Scale
}

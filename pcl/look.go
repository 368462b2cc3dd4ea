package pcl

import (
	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// at is where batches are looked at with parameters on the device, and the running statistics that belong to these: their own for
// a network that was trained apart, otherwise the present ones.
func (l *Learner) at(theta compute.Buffer) device.At {
	if o := &l.others; theta == o.apart[0] && o.statistics != nil {
		return device.At{Theta: theta, Running: o.statistics}
	}
	return device.At{Theta: theta, Running: l.network.statistics}
}

// predict returns the output that is predicted for each sample of a batch. It sets the batch's targets itself, so that the
// outputs that compete are those of prediction, not those of training. The parameters and the batch are on the client of the set.
func (l *Learner) predict(set *device.Set, at device.At, b *device.Batch, rule rehearsal.Rule) []int32 {
	l.target(b, rehearsal.Loss{})
	loss := l.options.lossOf(method.Memory)
	if rule == nil {
		return set.Predict(at, b, loss)
	}
	scores, features := set.Describe(at, b, loss)
	return l.predictByRule(b, scores, features, rule)
}

// predictByRule is predict from the scores and features of a batch, all of whose samples are of one task.
func (l *Learner) predictByRule(b *device.Batch, scores, features [][]float32, rule rehearsal.Rule) (predicted []int32) {
	lo, hi := l.roll.competing(b.Task[0])
	classes := l.roll.among(b.Task[0])
	outputs := make([]int, 0, len(classes))
	for o := lo; o < hi; o++ {
		outputs = append(outputs, o)
	}
	for i := range b.N {
		_, best, _ := compared(rule, scores[i], features[i], classes, outputs)
		predicted = append(predicted, int32(lo+best))
	}
	return predicted
}

package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
)

// trace passes what went into the step to [Options.Trace], if it is set.
func (s *step) trace() error {
	if s.options.Trace == nil {
		return nil
	}
	t := &Trace{StepReport: s.report, Theta: s.parameters}
	for _, i := range s.kept {
		b, size := s.rows[i].batch, s.options.Batch
		if b == nil { // the row of a penalty
			b = &device.Batch{Batch: data.Batch{X: make([]float32, size*s.options.spec().Width())}, Targets: make([]int32, graphs.TargetRows*size)}
		}
		t.X, t.Targets = append(t.X, b.X), append(t.Targets, b.Targets)
		var reference []float32
		if graphs.Referenced(s.rows[i].loss) {
			reference = b.Reference
		}
		t.Loss, t.Reference = append(t.Loss, s.rows[i].loss), append(t.Reference, reference)
	}
	return guarded("Options.Trace", func() error { return s.options.Trace(t) })
}

package rehearsal

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// AngularMargin is the part "mdmtr": a two-level angular margin loss for all rows (docs/method.md
// §5.5). Scores are the cosines between features and the classes' weights, in prediction without
// margins.
type AngularMargin struct {
	ClassMargin *float64 `param:"class_margin" default:"0.01" range:"[0,pi]" doc:"m_c in [0, π], added to the angle of the right class"`
	TaskMargin  *float64 `param:"task_margin" default:"0.01" range:"[0,pi]" doc:"m_t in [0, π], added to the angles of the classes of the right task"`
	Sharpness   float64  `param:"sharpness" default:"20" range:"[0.001,10000]" doc:"s > 0, the factor of the cosines"`
	LegacyNorm  bool     `param:"legacy_norm" default:"false" doc:"divide by the Frobenius norm of the whole classifier instead of the norm of each class's weights, as in the released PCL code"`
	Distill     float64  `param:"distill" default:"0" range:"[0,1e6]" doc:"weight of the squared difference to the scores stored when a task ended; 0 leaves it out"`
}

func init() {
	Register(Info{
		Name: "mdmtr", Title: "MDMTR",
		Does: "all losses are the softmax over all classes seen so far of s·cos(φⱼ + m_t[j of the right task] + " +
			"m_c[j the right class]), where φⱼ is the angle between the features and the weights of class j",
		Source: "Lyu et al., Multi-Domain Multi-Task Rehearsal for Lifelong Learning, AAAI 2021 (arXiv 2012.07236)",
		Cost:   "none; F+B with distill", State: "none; with distill, the scores stored with the samples",
		Axes: []string{"task loss", "memory loss"},
	}, func() Part { return new(AngularMargin) })
}

// Join sets the loss of all rows. The distillation is a row of its own on the samples of the first.
func (a *AngularMargin) Join(r *Rehearsal) error {
	loss := Loss{
		Seen: true, Cosine: true, Sharpness: a.Sharpness, Frobenius: a.LegacyNorm,
		ClassMargin: *a.ClassMargin, TaskMargin: *a.TaskMargin,
	}
	if err := params.CheckRange(loss.ClassMargin+loss.TaskMargin, "[0,pi]"); err != nil { // an angle may pass π once
		return fmt.Errorf("class_margin + task_margin: %w", err)
	}
	r.Task, r.Rows = loss, []Row{{ID: memoryRow, Loss: loss}}
	if a.Distill > 0 {
		r.Logits = true
		loss.StoredLogits, loss.Scale, loss.ClassMargin, loss.TaskMargin = true, a.Distill, 0, 0
		r.Rows = append(r.Rows, Row{ID: stored, Loss: loss})
	}
	return nil
}

package method

import (
	"errors"
	"math"
)

func init() {
	Register(Spec{
		Info: mdmtrInfo,
		Params: []Param{
			{Name: "class_margin", Default: 0.01, Doc: "m_c in [0, π], added to the angle of the right class"},
			{Name: "task_margin", Default: 0.01, Doc: "m_t in [0, π], added to the angles of the classes of the right task"},
			{Name: "sharpness", Default: 20.0, Doc: "s > 0, the factor of the cosines"},
			{Name: "legacy_norm", Default: false, Doc: "divide by the Frobenius norm of the whole classifier instead of the norm of each class's weights, as in the released PCL code"},
			{Name: "distill", Default: 0.0, Doc: "weight of the squared difference to the scores stored when a task ended; 0 leaves it out"},
		},
		New: func(p Params) (Method, error) { return newMDMTR(p) },
	})
}

var mdmtrInfo = Info{
	Name: "mdmtr", Title: "MDMTR", Family: "scl",
	Rule:   "d = ½(g_cur + g_mem) for the softmax over all classes seen so far of s·cos(φⱼ + m_t[j of the right task] + m_c[j the right class]), where φⱼ is the angle between the features and the weights of class j",
	Source: "Lyu et al., Multi-Domain Multi-Task Rehearsal for Lifelong Learning, AAAI 2021 (arXiv 2012.07236)",
	Cost:   "K(F+B), one more with distill", State: "none; with distill, the scores stored with the samples", SumW: "1; 1.5 with distill",
}

// mdmtr rehearses with a two-level angular margin loss (docs/method.md §5.5). Scores are the cosines, in
// prediction without margins.
type mdmtr struct{ loss Loss }

func newMDMTR(p Params) (Method, error) {
	m := mdmtr{Loss{
		Seen: true, Cosine: true, Sharpness: p.Float("sharpness"), Frobenius: p.Bool("legacy_norm"),
		ClassMargin: p.Float("class_margin"), TaskMargin: p.Float("task_margin"),
	}}
	distill := p.Float("distill")
	err := errors.Join(
		within("class_margin", m.loss.ClassMargin, 0, math.Pi), within("task_margin", m.loss.TaskMargin, 0, math.Pi),
		within("sharpness", m.loss.Sharpness, 1e-3, 1e4), within("distill", distill, 0, 1e6))
	if err != nil || distill == 0 {
		return m, err
	}
	return mdmtrDistilled{mdmtr: m, distill: distill}, nil
}

func (mdmtr) Info() Info { return mdmtrInfo }

// Loss is the same for all rows.
func (m mdmtr) Loss(int) Loss { return m.loss }

func (mdmtr) Weights(s *Step, w []float64) (Outcome, error) {
	return weighRows(mdmtrInfo, s, w, 0.5, 0.5)
}

// mdmtrDistilled adds the distillation to the memory's loss, as a row of its own on the same samples.
type mdmtrDistilled struct {
	mdmtr
	keepLogits
	distill float64
}

func (m mdmtrDistilled) Loss(id int) Loss {
	if id != stored {
		return m.loss
	}
	l := m.loss
	l.Kind, l.Scale, l.ClassMargin, l.TaskMargin = StoredLogits, m.distill, 0, 0
	return l
}

// Replays draws one batch for both rows.
func (mdmtrDistilled) Replays(lab ReplayLab) ([]Replay, error) {
	batch := lab.Memory().Draw(lab.Batch())
	return append(replay(Memory, batch), replay(stored, batch)...), nil
}

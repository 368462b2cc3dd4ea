package method

import "github.com/parallelcl/parallelcl/pcl/rehearsal"

// Each published method of this file is a rule with one part of a rehearsal, whose name, title,
// source and parameters it has.

func preset(info Info, part rehearsal.Part, make func() Method) {
	i := rehearsal.Describe(part)
	info.Name, info.Title, info.Source, info.Family = i.Name, i.Title, i.Source, "scl"
	Register(info, make)
}

func init() {
	preset(Info{
		Rule: "d = g_cur + ∇(α·MSE(h(x′), z′) + β·CE(h(x″), y″)), where (x′, z′) and (x″, y″) are " +
			"two draws from the memory, and z′ are the logits at the end of the sample's task",
		Cost: "(K_c+2)(F+B); (K_c+1)(F+B) with draws=one", State: "the logits stored with the samples",
		SumW: "3, with α and β counted in the losses; 2 with draws=one; 1 while the memory is empty",
	}, new(rehearsal.Distill), func() Method { return new(DERPP) })
	preset(Info{
		Rule: "d = ½(g_cur + g_mem), where the memory batch is edited first: x ← x + (1−decay)^age·α∇ₓ[ℓ(x; " +
			"θ−γg_cur) − ℓ(x; θ) − βℓ(x; θ)]",
		Cost: "K(F+B) + 2(F+B) for the edit", State: "none, apart from the edited samples in the memory", SumW: "1",
	}, new(rehearsal.GMED), func() Method { return new(GMED) })
	preset(Info{
		Rule: "an optimiser step along g_cur; then x ← x − α∇ₓℓ(x; θ) on a memory batch, with the θ before " +
			"that step; then a second step along ½(g_cur + g_mem)",
		Cost:  "(K+K_c)(F+B) + (F+B) for the edit; two updates per step",
		State: "none, apart from the edited samples in the memory", SumW: "1",
	}, new(rehearsal.GMEDRelease), func() Method { return new(GMEDRelease) })
	preset(Info{
		Rule: "d = ½(g_cur + g_mem); a new sample with score c replaces a stored one, which is drawn in proportion to its " +
			"score cᵢ, with probability cᵢ/(cᵢ+c); the score is 1 + the largest cosine of the sample's gradient with " +
			"those of n random parts of the memory",
		Cost:  "K(F+B) + (n+K_c)(F+B); a gradient per sample if a batch conflicts with the memory",
		State: "none, apart from the scores stored with the samples", SumW: "1",
	}, new(rehearsal.GSS), func() Method { return new(GSS) })
	preset(Info{
		Rule: "d = ½(g_cur + g_mem) of sigmoid losses on all outputs seen so far, where the targets of finished tasks are " +
			"the outputs of the model when the last task ended; samples are chosen for the memory by herding, and predictions " +
			"are the class with the nearest mean of the features",
		Cost: "K(F+B) + KF of the old model", State: "none, apart from the model when the last task ended", SumW: "1",
	}, new(rehearsal.ICaRL), func() Method { return new(ICaRL) })
	preset(Info{
		Rule: "d = ½(g_cur + g_mem) for the softmax over all classes seen so far of s·cos(φⱼ + m_t[j of the right " +
			"task] + m_c[j the right class]), where φⱼ is the angle between the features and the weights of class j",
		Cost: "K(F+B), one more with distill", State: "none; with distill, the scores stored with the samples",
		SumW: "1; 1.5 with distill",
	}, new(rehearsal.AngularMargin), func() Method { return new(MDMTR) })
	preset(Info{
		Rule: "d = g_cur + g_mem, where the memory batch consists of those random candidates whose loss rises most from θ " +
			"to θ − γg_cur",
		Cost: "K(F+B) + 2F of the candidates", State: "none; with best_loss, the scores stored with the samples",
		SumW: "2; 1 while the memory is empty",
	}, new(rehearsal.MIR), func() Method { return new(MIR) })
	preset(Info{
		Rule: "no training while tasks run: the memory is filled with an equal number of samples of each class, and for " +
			"predictions a new network is trained on the memory alone",
		Cost: "none per step; passes × (F+B) of the whole memory per evaluation", State: "only the memory",
		SumW: "1 (not used)",
	}, new(rehearsal.Retrain), func() Method { return new(GDumb) })
}

// DERPP is the method "der-pp", dark experience replay: the tasks' mean gradient and the memory's,
// whose loss is that of [rehearsal.Distill] (docs/method.md §5.6).
type DERPP struct {
	rehearsal.Distill
	both
}

// Parts is the part that the method is named after.
func (m *DERPP) Parts() []rehearsal.Part { return []rehearsal.Part{&m.Distill} }

// GMED is the method "gmed": half of the step is along the gradient of memory samples that
// [rehearsal.GMED] has edited (docs/method.md §5.11).
type GMED struct {
	rehearsal.GMED
	half
}

// Parts is the part that the method is named after.
func (m *GMED) Parts() []rehearsal.Part { return []rehearsal.Part{&m.GMED} }

// GMEDRelease is the method "gmed-release", as the released code has it (docs/method.md §5.11).
type GMEDRelease struct {
	rehearsal.GMEDRelease
	half
}

// Parts is the part that the method is named after.
func (m *GMEDRelease) Parts() []rehearsal.Part { return []rehearsal.Part{&m.GMEDRelease} }

// GSS is the method "gss": experience replay from a memory that [rehearsal.GSS] fills
// (docs/method.md §5.9).
type GSS struct {
	rehearsal.GSS
	half
}

// Parts is the part that the method is named after.
func (m *GSS) Parts() []rehearsal.Part { return []rehearsal.Part{&m.GSS} }

// ICaRL is the method "icarl", with the losses, the memory and the predictions of [rehearsal.ICaRL]
// (docs/method.md §5.7).
type ICaRL struct {
	rehearsal.ICaRL
	half
}

// Parts is the part that the method is named after.
func (m *ICaRL) Parts() []rehearsal.Part { return []rehearsal.Part{&m.ICaRL} }

// MDMTR is the method "mdmtr": experience replay with the angular losses of
// [rehearsal.AngularMargin] (docs/method.md §5.5).
type MDMTR struct {
	rehearsal.AngularMargin
	half
}

// Parts is the part that the method is named after.
func (m *MDMTR) Parts() []rehearsal.Part { return []rehearsal.Part{&m.AngularMargin} }

// MIR is the method "mir": it replays the samples that [rehearsal.MIR] chooses (docs/method.md
// §5.10).
type MIR struct {
	rehearsal.MIR
	both
}

// Parts is the part that the method is named after.
func (m *MIR) Parts() []rehearsal.Part { return []rehearsal.Part{&m.MIR} }

// GDumb is the method "gdumb": it makes no step while tasks run, and predicts with a network that
// [rehearsal.Retrain] trains on the memory (docs/method.md §5.8).
type GDumb struct {
	rehearsal.Retrain
	idle
}

// Parts is the part that the method is named after.
func (m *GDumb) Parts() []rehearsal.Part { return []rehearsal.Part{&m.Retrain} }

// idle is the rule of GDumb, which trains only when a prediction is asked for (docs/method.md
// §5.8).
type idle struct{ setup }

// Idle says that no step is made while tasks run.
func (*idle) Idle() bool { return true }

// Needs says that the rule reads nothing of a step.
func (*idle) Needs() Needs { return Needs{} }

// Weights writes equal weights. The learner does not call it, since it makes no steps.
func (*idle) Weights(s *Step, w []float64) (Outcome, error) {
	if wrong := s.misfit(Needs{}, w); wrong != "" {
		panic("method: " + wrong)
	}
	fill(w, 1/float64(len(w)))
	return Outcome{}, nil
}

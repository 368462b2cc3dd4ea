package method

import "github.com/parallelcl/parallelcl/pcl/rehearsal"

// Each published method of this file is a rule with one part of a rehearsal, and has the part's parameters.
type (
	// DERPP is the method "der-pp".
	DERPP rehearsal.Distill
	// GMED is the method "gmed".
	GMED rehearsal.GMED
	// GMEDRelease is the method "gmed-release".
	GMEDRelease rehearsal.GMEDRelease
	// GSS is the method "gss".
	GSS rehearsal.GSS
	// ICaRL is the method "icarl".
	ICaRL rehearsal.ICaRL
	// MDMTR is the method "mdmtr".
	MDMTR rehearsal.Angular
	// MIR is the method "mir".
	MIR rehearsal.MIR
	// GDumb is the method "gdumb".
	GDumb rehearsal.Retrain
)

func (p DERPP) rehearsed() (weigher, rehearsal.Part) { return weighted{1, 1}, rehearsal.Distill(p) }
func (p GMED) rehearsed() (weigher, rehearsal.Part)  { return weighted{0.5, 0.5}, rehearsal.GMED(p) }
func (p GMEDRelease) rehearsed() (weigher, rehearsal.Part) {
	return weighted{0.5, 0.5}, rehearsal.GMEDRelease(p)
}
func (p GSS) rehearsed() (weigher, rehearsal.Part)   { return weighted{0.5, 0.5}, rehearsal.GSS(p) }
func (p ICaRL) rehearsed() (weigher, rehearsal.Part) { return weighted{0.5, 0.5}, rehearsal.ICaRL(p) }
func (p MDMTR) rehearsed() (weigher, rehearsal.Part) { return weighted{0.5, 0.5}, rehearsal.Angular(p) }
func (p MIR) rehearsed() (weigher, rehearsal.Part)   { return weighted{1, 1}, rehearsal.MIR(p) }
func (p GDumb) rehearsed() (weigher, rehearsal.Part) { return idle{}, rehearsal.Retrain(p) }

// Names, titles and sources come from the parts.
func init() {
	for _, p := range []struct {
		Info
		declaration rehearsed
	}{
		{Info{
			Rule: "d = g_cur + ∇(α·MSE(h(x′), z′) + β·CE(h(x″), y″)), where (x′, z′) and (x″, y″) are two draws from the memory, and z′ are the logits at the end of the sample's task",
			Cost: "(K_c+2)(F+B); (K_c+1)(F+B) with draws=one", State: "the logits stored with the samples", SumW: "3, with α and β counted in the losses; 2 with draws=one; 1 while the memory is empty",
		}, DERPP{}},
		{Info{
			Rule: "d = ½(g_cur + g_mem), where the memory batch is edited first: x ← x + (1−decay)^age·α∇ₓ[ℓ(x; θ−γg_cur) − ℓ(x; θ) − βℓ(x; θ)]",
			Cost: "K(F+B) + 2(F+B) for the edit", State: "none, apart from the edited samples in the memory", SumW: "1",
		}, GMED{}},
		{Info{
			Rule: "an optimiser step along g_cur; then x ← x − α∇ₓℓ(x; θ) on a memory batch, with the θ before that step; then a second step along ½(g_cur + g_mem)",
			Cost: "(K+K_c)(F+B) + (F+B) for the edit; two updates per step", State: "none, apart from the edited samples in the memory", SumW: "1",
		}, GMEDRelease{}},
		{Info{
			Rule: "d = ½(g_cur + g_mem); a new sample with score c replaces a stored one, which is drawn in proportion to its score cᵢ, with probability cᵢ/(cᵢ+c); the score is 1 + the largest cosine of the sample's gradient with those of n random parts of the memory",
			Cost: "K(F+B) + (n+K_c)(F+B); a gradient per sample if a batch conflicts with the memory", State: "none, apart from the scores stored with the samples", SumW: "1",
		}, GSS{}},
		{Info{
			Rule: "d = ½(g_cur + g_mem) of sigmoid losses on all outputs seen so far, where the targets of finished tasks are the outputs of the model when the last task ended; samples are chosen for the memory by herding, and predictions are the class with the nearest mean of the features",
			Cost: "K(F+B) + KF of the old model", State: "none, apart from the model when the last task ended", SumW: "1",
		}, ICaRL{}},
		{Info{
			Rule: "d = ½(g_cur + g_mem) for the softmax over all classes seen so far of s·cos(φⱼ + m_t[j of the right task] + m_c[j the right class]), where φⱼ is the angle between the features and the weights of class j",
			Cost: "K(F+B), one more with distill", State: "none; with distill, the scores stored with the samples", SumW: "1; 1.5 with distill",
		}, MDMTR{}},
		{Info{
			Rule: "d = g_cur + g_mem, where the memory batch consists of those random candidates whose loss rises most from θ to θ − γg_cur",
			Cost: "K(F+B) + 2F of the candidates", State: "none; with best_loss, the scores stored with the samples", SumW: "2; 1 while the memory is empty",
		}, MIR{}},
		{Info{
			Rule: "no training while tasks run: the memory is filled with an equal number of samples of each class, and for predictions a new network is trained on the memory alone",
			Cost: "none per step; passes × (F+B) of the whole memory per evaluation", State: "only the memory", SumW: "1 (not used)",
		}, GDumb{}},
	} {
		_, part := p.declaration.rehearsed()
		i := part.Info()
		p.Name, p.Title, p.Source, p.Family = i.Name, i.Title, i.Source, "scl"
		Register(p.Info, p.declaration)
	}
}

// idle is the rule of GDumb, which trains only when a prediction is asked for (docs/method.md §5.8).
type idle struct{}

// Idle says that no step is made while tasks run.
func (idle) Idle() bool { return true }

// Weights is the mean. The learner does not call it, since it makes no steps.
func (idle) Weights(s *Step, w []float64) (Outcome, error) {
	fill(w, 1/float64(len(w)))
	return Outcome{}, nil
}

// rehearsed is a declaration of a rule and a part of a rehearsal.
type rehearsed interface {
	rehearsed() (weigher, rehearsal.Part)
}

// joined is a published method: a rule and parts under the name, and with the description, of the rule.
func joined(rule Method, parts ...rehearsal.Part) (Method, error) {
	r, err := rehearsal.New(parts...)
	if err != nil {
		return nil, err
	}
	c := &composed{info: rule.Info(), rule: rule, rehearsal: r}
	c.assign()
	return c, nil
}

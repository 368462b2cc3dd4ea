package method

import (
	"slices"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Each published method of this file is a rule with one part of a rehearsal, whose name, title, source and parameters it
// has. The part is its declaration.
func init() {
	half := weighted{0.5, 0.5}
	for _, p := range []struct {
		part any
		rule rule
		Info
	}{
		{rehearsal.Distill{}, weighted{1, 1}, Info{
			Rule: "d = g_cur + ∇(α·MSE(h(x′), z′) + β·CE(h(x″), y″)), where (x′, z′) and (x″, y″) are two draws from the memory, and z′ are the logits at the end of the sample's task",
			Cost: "(K_c+2)(F+B); (K_c+1)(F+B) with draws=one", State: "the logits stored with the samples", SumW: "3, with α and β counted in the losses; 2 with draws=one; 1 while the memory is empty",
		}},
		{rehearsal.GMED{}, half, Info{
			Rule: "d = ½(g_cur + g_mem), where the memory batch is edited first: x ← x + (1−decay)^age·α∇ₓ[ℓ(x; θ−γg_cur) − ℓ(x; θ) − βℓ(x; θ)]",
			Cost: "K(F+B) + 2(F+B) for the edit", State: "none, apart from the edited samples in the memory", SumW: "1",
		}},
		{rehearsal.GMEDRelease{}, half, Info{
			Rule: "an optimiser step along g_cur; then x ← x − α∇ₓℓ(x; θ) on a memory batch, with the θ before that step; then a second step along ½(g_cur + g_mem)",
			Cost: "(K+K_c)(F+B) + (F+B) for the edit; two updates per step", State: "none, apart from the edited samples in the memory", SumW: "1",
		}},
		{rehearsal.GSS{}, half, Info{
			Rule: "d = ½(g_cur + g_mem); a new sample with score c replaces a stored one, which is drawn in proportion to its score cᵢ, with probability cᵢ/(cᵢ+c); the score is 1 + the largest cosine of the sample's gradient with those of n random parts of the memory",
			Cost: "K(F+B) + (n+K_c)(F+B); a gradient per sample if a batch conflicts with the memory", State: "none, apart from the scores stored with the samples", SumW: "1",
		}},
		{rehearsal.ICaRL{}, half, Info{
			Rule: "d = ½(g_cur + g_mem) of sigmoid losses on all outputs seen so far, where the targets of finished tasks are the outputs of the model when the last task ended; samples are chosen for the memory by herding, and predictions are the class with the nearest mean of the features",
			Cost: "K(F+B) + KF of the old model", State: "none, apart from the model when the last task ended", SumW: "1",
		}},
		{rehearsal.Angular{}, half, Info{
			Rule: "d = ½(g_cur + g_mem) for the softmax over all classes seen so far of s·cos(φⱼ + m_t[j of the right task] + m_c[j the right class]), where φⱼ is the angle between the features and the weights of class j",
			Cost: "K(F+B), one more with distill", State: "none; with distill, the scores stored with the samples", SumW: "1; 1.5 with distill",
		}},
		{rehearsal.MIR{}, weighted{1, 1}, Info{
			Rule: "d = g_cur + g_mem, where the memory batch consists of those random candidates whose loss rises most from θ to θ − γg_cur",
			Cost: "K(F+B) + 2F of the candidates", State: "none; with best_loss, the scores stored with the samples", SumW: "2; 1 while the memory is empty",
		}},
		{rehearsal.Retrain{}, idle{}, Info{
			Rule: "no training while tasks run: the memory is filled with an equal number of samples of each class, and for predictions a new network is trained on the memory alone",
			Cost: "none per step; passes × (F+B) of the whole memory per evaluation", State: "only the memory", SumW: "1 (not used)",
		}},
	} {
		i := rehearsal.Describe(p.part)
		p.Name, p.Title, p.Source, p.Family = i.Name, i.Title, i.Source, "scl"
		register(declared{p.Info, p.part, p.rule})
	}
}

// idle is the rule of GDumb, which trains only when a prediction is asked for (docs/method.md §5.8).
type idle struct{}

// Idle says that no step is made while tasks run.
func (idle) Idle() bool { return true }

// weights is the mean. The learner does not call it, since it makes no steps.
func (idle) weights(_ *Step, w []float64) Outcome {
	fill(w, 1/float64(len(w)))
	return Outcome{}
}

// joined is a published method: a rule and parts under the name, and with the description, of the rule.
func joined(rule Method, parts ...any) Method {
	c := &composed{info: rule.Info(), rule: rule, parts: slices.Clone(parts), rehearsal: fail.Or(rehearsal.New(parts...))}
	c.assign()
	return c
}

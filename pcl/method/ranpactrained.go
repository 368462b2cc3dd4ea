package method

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func init() {
	Register(Info{
		Name: "ranpac-trained", Title: "RanPAC + a trained head", Family: "pcl",
		Rule: "d = (1/K) Σ Jᵢ with emgd's memory and its loss; predicted is the class with the largest sum of " +
			"log softmax of the logits and of T times RanPAC's scores, with T from samples held out",
		Source: "a composition of McDonnell et al., arXiv 2307.02251 (RanPAC), Buzzega et al., arXiv 2004.07211 " +
			"(DER++) and Rebuffi et al., arXiv 1611.07725 (herding)",
		Cost:  "K(F+B); F of the candidates when a task ends; M³/6 per evaluation",
		State: "the logits stored with the samples; M²/2 numbers, and M for each class; the samples held out", SumW: "1",
	}, func() Method { return new(RanPACTrained) })
}

// RanPACTrained is the method "ranpac-trained", for the linear network on features where the task
// is known: two classifiers that err differently, RanPAC and one that is trained (docs/method.md
// §12.4).
type RanPACTrained struct {
	M       float64  `param:"m" default:"2000" range:"whole [1,32768]" doc:"number of random features; 5000 for tens of thousands of samples"`
	Draw    float64  `param:"draw" default:"0" range:"whole [0,4294967295]" doc:"seed of the random features; the run's own seed does not change them"`
	HeldOut float64  `param:"held-out" default:"5" range:"whole [1,10000]" doc:"number of samples of each class of a task that are kept out of the sums, for the temperature"`
	Alpha   *float64 `param:"alpha" default:"0.2" range:"[0,1e6]" doc:"α ≥ 0, weight of the squared difference to the stored logits; 0 leaves it out"`
	Pool    float64  `param:"pool" default:"500" range:"whole [1,1e9]" doc:"number of samples of each class of a running task from which those for the memory are chosen, at least 1; never fewer than the memory can take"`

	AvgGrad
	model *analytic.Model
	held  []heldOut
	pair  *twoHeads
}

// heldOut is a sample that is not in the sums.
type heldOut struct {
	Task, Class int
	X           []float32
}

// Start makes the sums.
func (m *RanPACTrained) Start() error {
	m.model = analytic.New(&analytic.RanPAC{M: int(m.M), Seed: uint64(m.Draw)}, false)
	return nil
}

// Parts are the loss of the memory and what is kept.
func (m *RanPACTrained) Parts() []rehearsal.Part {
	return []rehearsal.Part{
		&rehearsal.Distill{Alpha: m.Alpha, Beta: new(1.0), Draws: rehearsal.DrawsOne}, &rehearsal.Herding{Pool: m.Pool},
	}
}

// Admit returns an error if features are negative or not finite.
func (m *RanPACTrained) Admit(x []float32) error { return analytic.Admit(x) }

// Observe adds the samples to the sums, but for the first of each class of a task.
func (m *RanPACTrained) Observe(_ rehearsal.Context, current [][]memory.Item) error {
	for _, batch := range current {
		for _, it := range batch {
			if m.heldOf(it.Task, it.Class) < int(m.HeldOut) {
				m.held = append(m.held, heldOut{it.Task, it.Class, slices.Clone(it.Pixels)})
			} else if err := m.model.Add(it.Task, it.Class, it.Pixels); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *RanPACTrained) heldOf(task, class int) (n int) {
	for _, h := range m.held {
		if h.Task == task && h.Class == class {
			n++
		}
	}
	return n
}

// Prepare solves for the weights of all samples, and chooses the temperature.
func (m *RanPACTrained) Prepare(ctx rehearsal.PredictContext) error {
	w, err := m.model.Weights()
	if w == nil || err != nil {
		m.pair = nil
		return err
	}
	t, err := temperature(w, m.held, ctx.OneTask())
	m.pair = &twoHeads{w, t}
	return err
}

// Snapshot returns the rule that Prepare has made.
func (m *RanPACTrained) Snapshot() (rehearsal.Point, rehearsal.Scorer) {
	if m.pair == nil {
		return rehearsal.Current, nil
	}
	return rehearsal.Current, m.pair
}

// End does nothing: the sums of a task stay.
func (m *RanPACTrained) End(int) {}

type savedPair struct {
	Sums *analytic.Model `json:"sums"`
	Held []heldOut       `json:"held"`
}

// MarshalState returns the sums and the samples held out.
func (m *RanPACTrained) MarshalState() (json.RawMessage, error) {
	return json.Marshal(savedPair{m.model, m.held})
}

// UnmarshalState restores them.
func (m *RanPACTrained) UnmarshalState(text json.RawMessage) error {
	s := savedPair{Sums: m.model}
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	m.held = s.Held
	return nil
}

// temperature is the factor of the scores with which those of the held-out samples, by the softmax,
// have the smallest mean loss. It is one of 1, √2, 2, … 1024.
func temperature(w *analytic.Weights, held []heldOut, oneTask bool) (best float64, err error) {
	scores, places, err := scored(w, held, oneTask)
	least := math.Inf(1)
	for k := range 21 {
		t := math.Exp2(float64(k) / 2)
		loss := 0.0
		for i, of := range scores {
			loss -= logSoftmax(sharpened(of, t))[places[i]]
		}
		if loss < least {
			best, least = t, loss
		}
	}
	return max(1, best), err
}

// scored returns the scores of samples for the classes that they choose among, of those that have
// sums, and the place of the right one. Samples of other classes are left out.
func scored(w *analytic.Weights, held []heldOut, oneTask bool) (scores [][]float64, places []int, err error) {
	choices := map[int][]int{} // by task, or of all
	of := func(h heldOut) int {
		if oneTask {
			return h.Task
		}
		return 0
	}
	for _, h := range held {
		if !slices.Contains(choices[of(h)], h.Class) && slices.Contains(w.Classes(), h.Class) {
			choices[of(h)] = append(choices[of(h)], h.Class)
		}
	}
	for _, h := range held {
		classes := choices[of(h)]
		place := slices.Index(classes, h.Class)
		if place < 0 {
			continue
		}
		s, err := w.ScoreInputs(h.X, classes)
		if err != nil {
			return nil, nil, err
		}
		scores, places = append(scores, s[0]), append(places, place)
	}
	return scores, places, nil
}

// twoHeads adds the logarithms of the probabilities of the logits and of the sums' scores.
type twoHeads struct {
	sums        *analytic.Weights
	temperature float64
}

// ByValues says that Score takes a sample's values.
func (*twoHeads) ByValues() {}

// Score replaces the logits of classes.
func (p *twoHeads) Score(values []float32, classes []int, scores []float64) bool {
	own, err := p.sums.ScoreInputs(values, classes)
	if err != nil {
		return false
	}
	trained, sums := logSoftmax(scores), logSoftmax(sharpened(own[0], p.temperature))
	for i := range scores {
		scores[i] = trained[i] + sums[i]
	}
	return true
}

func sharpened(scores []float64, factor float64) []float64 {
	out := slices.Clone(scores)
	floats.Scale(factor, out)
	return out
}

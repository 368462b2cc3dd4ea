package method

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

func init() {
	Register(Spec{
		Info: derppInfo,
		Params: []Param{
			{Name: "alpha", Default: 0.3, Doc: "α ≥ 0, weight of the squared difference to the stored logits; 0 leaves it out"},
			{Name: "beta", Default: 0.5, Doc: "β ≥ 0, weight of the memory's cross-entropy; 0 leaves it out, which is DER"},
		},
		New: func(p Params) (Method, error) {
			m := derpp{alpha: p.Float("alpha"), beta: p.Float("beta")}
			if m.alpha == 0 && m.beta == 0 {
				return nil, errors.New("alpha and beta are both 0: there would be no rehearsal")
			}
			return m, errors.Join(within("alpha", m.alpha, 0, 1e6), within("beta", m.beta, 0, 1e6))
		},
	})
}

var derppInfo = Info{
	Name: "der-pp", Title: "DER++", Family: "scl",
	Rule:   "d = g_cur + ∇(α·MSE(h(x′), z′) + β·CE(h(x″), y″)), where (x′, z′) and (x″, y″) are two draws from the memory, and z′ are the logits at the end of the sample's task",
	Source: "Buzzega et al., Dark Experience for General Continual Learning, NeurIPS 2020 (arXiv 2004.07211)",
	Cost:   "(K_c+2)(F+B)", State: "the logits stored with the samples", SumW: "3, with α and β counted in the losses; 1 while the memory is empty",
}

// derpp is dark experience replay (docs/method.md §5.6). Its two memory rows have α and β in their losses.
type derpp struct {
	keepLogits
	alpha, beta float64
}

func (derpp) Info() Info { return derppInfo }

func (m derpp) Loss(id int) Loss {
	switch id {
	case Memory:
		return Loss{Scale: m.beta}
	case stored:
		return Loss{Kind: StoredLogits, Scale: m.alpha}
	}
	return Loss{}
}

// Replays draws two batches. Two of the store's own draws would not be independent, because these pass over
// all samples before they repeat one.
func (m derpp) Replays(lab ReplayLab) ([]Replay, error) {
	var rows []Replay
	store := lab.Memory()
	if m.beta > 0 {
		rows = replay(Memory, store.Draw(lab.Batch()))
	}
	if m.alpha > 0 {
		rows = append(rows, replay(stored, anyOf(everyIndex(store), lab.Batch(), lab.Rand()))...)
	}
	return rows, nil
}

func (derpp) Weights(s *Step, w []float64) (Outcome, error) {
	return weighRows(derppInfo, s, w, 1, 1)
}

// keepLogits stores samples with the logits of the model at the end of their task.
type keepLogits struct{}

// Pool asks for no more than what is stored.
func (keepLogits) Pool(quota int) int { return quota }

// Curate lets the store choose.
func (keepLogits) Curate(lab Lab, id int, candidates []memory.Item) error {
	if len(candidates) == 0 {
		return nil
	}
	logits, err := lab.Logits(Now, candidates)
	if err != nil {
		return err
	}
	if len(logits) != len(candidates) {
		return fmt.Errorf("task %d: %d logits for %d samples", id, len(logits), len(candidates))
	}
	kept := slices.Clone(candidates)
	for i := range kept {
		kept[i].Logits = logits[i]
	}
	lab.Memory().Add(kept)
	return nil
}

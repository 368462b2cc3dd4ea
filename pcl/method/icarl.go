package method

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

func init() {
	Register(Spec{
		Info:   icarlInfo,
		Params: []Param{{Name: "pool", Default: 500.0, Doc: "number of samples of each class of a running task from which those for the memory are chosen, at least 1; never fewer than the memory can take"}},
		New: func(p Params) (Method, error) {
			pool, err := whole("pool", p.Float("pool"), 1, 1e9)
			return &icarl{pool: pool}, err
		},
	})
}

var icarlInfo = Info{
	Name: "icarl", Title: "iCaRL", Family: "scl",
	Rule:   "d = ½(g_cur + g_mem) of sigmoid losses on all outputs seen so far, where the targets of finished tasks are the outputs of the model when the last task ended; samples are chosen for the memory by herding, and predictions are the class with the nearest mean of the features",
	Source: "Rebuffi et al., iCaRL: Incremental Classifier and Representation Learning, CVPR 2017 (arXiv 1611.07725)",
	Cost:   "K(F+B) + KF of the old model", State: "none, apart from the model when the last task ended", SumW: "1",
}

// icarl learns by distillation from its former self and classifies by exemplars (docs/method.md §5.7).
type icarl struct {
	pool  int
	means map[int][]float64 // by class, of length 1
}

func (*icarl) Info() Info { return icarlInfo }

func (*icarl) Loss(int) Loss { return Loss{Kind: Sigmoid, Seen: true} }

func (*icarl) Weights(s *Step, w []float64) (Outcome, error) {
	return weighRows(icarlInfo, s, w, 0.5, 0.5)
}

// Pool asks for enough candidates to choose from.
func (m *icarl) Pool(quota int) int {
	if quota == 0 {
		return 0
	}
	return max(quota, m.pool)
}

// Curate ranks the candidates of each class by herding, and copies the model.
func (m *icarl) Curate(lab Lab, _ int, candidates []memory.Item) error {
	features, err := unitFeatures(lab, candidates)
	if err != nil {
		return err
	}
	var classes []int
	of := map[int][]int{}
	for i, it := range candidates {
		if of[it.Class] == nil {
			classes = append(classes, it.Class)
		}
		of[it.Class] = append(of[it.Class], i)
	}
	var ranked []memory.Item
	quota := lab.Memory().Quota(classes)
	for _, c := range classes {
		own := make([][]float64, len(of[c]))
		for k, i := range of[c] {
			own[k] = features[i]
		}
		for _, k := range herd(own, quota) {
			ranked = append(ranked, candidates[of[c][k]])
		}
	}
	lab.Memory().AddRanked(ranked)
	return lab.Remember()
}

// herd returns the indices of n features, each chosen so that the mean of those chosen so far is
// nearest to the mean of all (Rebuffi et al., Algorithm 4).
func herd(features [][]float64, n int) []int {
	if len(features) == 0 {
		return nil
	}
	mean := make([]float64, len(features[0]))
	for _, f := range features {
		for p, x := range f {
			mean[p] += x / float64(len(features))
		}
	}
	var chosen []int
	taken, wanted := make([]bool, len(features)), make([]float64, len(mean)) // wanted: k·mean − Σ chosen
	for range min(n, len(features)) {
		for p, x := range mean {
			wanted[p] += x
		}
		best, least := -1, math.Inf(1)
		for i, f := range features {
			if d := squaredDistance(wanted, f); !taken[i] && (best < 0 || d < least) {
				best, least = i, d
			}
		}
		taken[best] = true
		chosen = append(chosen, best)
		for p, x := range features[best] {
			wanted[p] -= x
		}
	}
	return chosen
}

func squaredDistance(a, b []float64) (sum float64) {
	for p, x := range a {
		sum += (x - b[p]) * (x - b[p])
	}
	return sum
}

// unitFeatures are the samples' features, of length 1.
func unitFeatures(lab Lab, samples []memory.Item) ([][]float64, error) {
	if len(samples) == 0 {
		return nil, nil
	}
	features, err := lab.Features(Now, samples)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(features))
	for i, f := range features {
		out[i] = make([]float64, len(f))
		for p, x := range f {
			out[i][p] = float64(x)
		}
		toLengthOne(out[i])
	}
	return out, nil
}

// toLengthOne scales v, unless it is 0.
func toLengthOne(v []float64) {
	length := math.Sqrt(inner(v, v))
	for p := range v {
		v[p] /= max(length, math.SmallestNonzeroFloat64)
	}
}

// Prepare computes the class means: of the exemplars, and of the candidates of running tasks.
func (m *icarl) Prepare(lab PredictLab) error {
	samples := itemsAt(lab.Memory(), everyIndex(lab.Memory()))
	for _, task := range lab.Running() {
		samples = append(samples, lab.Candidates(task)...)
	}
	features, err := unitFeatures(lab, samples)
	if err != nil {
		return err
	}
	m.means = map[int][]float64{}
	for i, f := range features {
		if c := samples[i].Class; m.means[c] == nil {
			m.means[c] = slices.Clone(f)
		} else {
			for p, x := range f {
				m.means[c][p] += x
			}
		}
	}
	for _, mean := range m.means {
		toLengthOne(mean)
	}
	return nil
}

// Predict returns the class with the nearest mean. Where no competing class has one, as before the
// first samples came, it is the class with the largest logit.
func (m *icarl) Predict(lab PredictLab, samples []memory.Item) ([]int, error) {
	features, err := unitFeatures(lab, samples)
	if err != nil {
		return nil, err
	}
	classes, competing := make([]int, len(samples)), map[int][]int{}
	var unknown []int
	for i, it := range samples {
		if competing[it.Task] == nil {
			competing[it.Task] = lab.Competing(it.Task)
		}
		class, ok := m.nearest(features[i], competing[it.Task])
		if classes[i] = class; !ok {
			unknown = append(unknown, i)
		}
	}
	if unknown == nil {
		return classes, nil
	}
	rest := make([]memory.Item, len(unknown))
	for k, i := range unknown {
		rest[k] = samples[i]
	}
	guessed, err := lab.Predict(Now, rest)
	if err != nil {
		return nil, err
	}
	for k, i := range unknown {
		classes[i] = guessed[k]
	}
	return classes, nil
}

func (m *icarl) nearest(feature []float64, competing []int) (class int, ok bool) {
	least := math.Inf(1)
	for _, c := range competing {
		mean, known := m.means[c]
		if !known {
			continue
		}
		if d := squaredDistance(feature, mean); !ok || d < least {
			class, ok, least = c, true, d
		}
	}
	return class, ok
}

package rehearsal

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// NearestMean is the part "ncm": predictions are the class with the nearest mean of the features, over the stored
// samples and the candidates of running tasks (docs/method.md §5.7).
type NearestMean struct {
	Where string `param:"where" default:"always" choices:"always,between-tasks" doc:"whether all predictions are made so, or only those among the classes of several tasks, as in class-incremental mode"`
}

func (NearestMean) Info() Info {
	return Info{
		Name: "ncm", Title: "nearest class mean",
		Does:   "predictions are the class whose stored samples have the nearest mean of the features",
		Source: "Mensink et al., Distance-Based Image Classification, TPAMI 2013; Rebuffi et al., iCaRL: Incremental Classifier and Representation Learning, CVPR 2017 (arXiv 1611.07725)",
		Cost:   "none; F of the memory per evaluation", State: "none",
		Axes: []Axis{Prediction},
	}
}

// Join sets what predicts.
func (n NearestMean) Join(r *Rehearsal) error {
	r.Predict = &nearestMean{between: n.Where == "between-tasks"}
	return nil
}

type nearestMean struct {
	between bool
	never   bool              // as only predictions among the classes of several tasks are to be made so, and there are none
	means   map[int][]float64 // by class, of length 1
	tasks   map[int][]int     // by class, the tasks of its samples
}

// Prepare computes the class means: of the exemplars, and of the candidates of running tasks.
func (m *nearestMean) Prepare(lab PredictLab) error {
	m.never = m.between && lab.OneTask()
	samples := lab.Memory().Items(everyIndex(lab.Memory()))
	for _, task := range lab.Running() {
		samples = append(samples, lab.Candidates(task)...)
	}
	features, err := unitFeatures(lab, samples)
	if err != nil {
		return err
	}
	m.means, m.tasks = map[int][]float64{}, map[int][]int{}
	for i, f := range features {
		if c, task := samples[i].Class, samples[i].Task; !slices.Contains(m.tasks[c], task) {
			m.tasks[c] = append(m.tasks[c], task)
		}
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

// Predict returns the class with the nearest mean, and the class with the largest logit where the means do not decide.
// Each sample is put through the network once, for the one or for the other.
func (m *nearestMean) Predict(lab PredictLab, samples []memory.Item) ([]int, error) {
	competing, decided := map[int][]int{}, map[int]bool{} // by task
	var byMean, byLogit []int                             // indices of samples
	for i, it := range samples {
		if competing[it.Task] == nil {
			competing[it.Task] = lab.Competing(it.Task)
			decided[it.Task] = m.decides(competing[it.Task])
		}
		if decided[it.Task] {
			byMean = append(byMean, i)
		} else {
			byLogit = append(byLogit, i)
		}
	}
	classes := make([]int, len(samples))
	features, err := unitFeatures(lab, pick(samples, byMean))
	if err != nil {
		return nil, err
	}
	for k, i := range byMean {
		classes[i] = m.nearest(features[k], competing[samples[i].Task])
	}
	if byLogit == nil {
		return classes, nil
	}
	guessed, err := lab.Predict(Now, pick(samples, byLogit))
	if err != nil {
		return nil, err
	}
	for k, i := range byLogit {
		classes[i] = guessed[k]
	}
	return classes, nil
}

// decides says whether the means choose among these classes: one of them must have a mean, which none has before the first
// samples came.
func (m *nearestMean) decides(classes []int) bool {
	return !m.never && slices.ContainsFunc(classes, m.known) && !(m.between && m.oneTask(classes))
}

func (m *nearestMean) known(class int) bool { return m.means[class] != nil }

func pick(samples []memory.Item, which []int) []memory.Item {
	picked := make([]memory.Item, len(which))
	for k, i := range which {
		picked[k] = samples[i]
	}
	return picked
}

// Snapshot copies the rule. Prepare makes new means and leaves the copy's alone.
func (m *nearestMean) Snapshot() (Point, Rule) {
	copied := *m
	return Now, &copied
}

// Compare compares the classes by −d², where d is the distance of a sample's features from the class's mean. Classes
// without a mean are excluded, and so are those whose mean is not as long as the features.
func (m *nearestMean) Compare(features []float32, classes []int, scores []float64) bool {
	if !m.decides(classes) {
		return false
	}
	f := unit(features)
	for i, c := range classes {
		if scores[i] = math.Inf(-1); m.known(c) && len(m.means[c]) == len(f) {
			scores[i] = -squaredDistance(f, m.means[c])
		}
	}
	return true
}

// oneTask says whether some task has samples of all of the classes that have any: a comparison of these is not one between
// tasks.
func (m *nearestMean) oneTask(classes []int) bool {
	var all []int // the tasks that have samples of all that were met
	met := false
	for _, c := range classes {
		switch of := m.tasks[c]; {
		case len(of) == 0:
		case !met:
			all, met = slices.Clone(of), true
		default:
			all = slices.DeleteFunc(all, func(task int) bool { return !slices.Contains(of, task) })
		}
	}
	return !met || len(all) > 0
}

// nearest returns the competing class with the nearest mean; at least one of them must have a mean.
func (m *nearestMean) nearest(feature []float64, competing []int) (class int) {
	least, found := math.Inf(1), false
	for _, c := range competing {
		mean, known := m.means[c]
		if !known {
			continue
		}
		if d := squaredDistance(feature, mean); !found || d < least {
			class, found, least = c, true, d
		}
	}
	return class
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
		out[i] = unit(f)
	}
	return out, nil
}

// unit returns a vector scaled to length 1.
func unit(f []float32) []float64 {
	out := make([]float64, len(f))
	for p, x := range f {
		out[p] = float64(x)
	}
	toLengthOne(out)
	return out
}

// toLengthOne scales v, unless it is 0.
func toLengthOne(v []float64) {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	length := max(math.Sqrt(square), math.SmallestNonzeroFloat64)
	for p := range v {
		v[p] /= length
	}
}

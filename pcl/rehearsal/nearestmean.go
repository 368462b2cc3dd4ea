package rehearsal

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// NearestMean is the part "ncm": predictions are the class with the nearest mean of the features,
// over the stored samples and the candidates of running tasks (docs/method.md §5.7).
type NearestMean struct {
	Where NearestMeanScope `param:"where" default:"always" choices:"always,between-tasks" doc:"whether all predictions are made so, or only those among the classes of several tasks, as in class-incremental mode"`
}

func init() {
	Register(Info{
		Name: "ncm", Title: "nearest class mean",
		Does: "predictions are the class whose stored samples have the nearest mean of the features",
		Source: "Mensink et al., Distance-Based Image Classification, TPAMI 2013; Rebuffi et al., iCaRL: Incremental " +
			"Classifier and Representation Learning, CVPR 2017 (arXiv 1611.07725)",
		Cost: "none; F of the memory per evaluation", State: "none",
		Axes: []string{"prediction"},
	}, func() Part { return new(NearestMean) })
}

// Join sets what predicts.
func (n *NearestMean) Join(r *Rehearsal) error {
	r.Predict = &nearestMean{between: n.Where == NearestMeanBetweenTasks}
	return nil
}

type nearestMean struct {
	between bool // the means only decide among the classes of several tasks
	// never says that the means decide nothing: between is set, and each prediction is among the
	// classes of one task.
	never bool
	means map[int][]float64 // by class, of length 1
	tasks map[int][]int     // by class, the tasks of its samples
}

// Prepare computes the class means: of the exemplars, and of the candidates of running tasks.
func (m *nearestMean) Prepare(ctx PredictContext) error { return m.prepare(ctx, math.MaxInt) }

// Preview computes the class means of few samples of each class, which lie evenly among all of
// them.
func (m *nearestMean) Preview(ctx PredictContext, most int) (Scorer, error) {
	out := &nearestMean{between: m.between}
	return out, out.prepare(ctx, most)
}

// prepare computes class means of at most so many samples of each class.
func (m *nearestMean) prepare(ctx PredictContext, most int) error {
	m.never = m.between && ctx.OneTask()
	samples := ctx.Memory().Items(everyIndex(ctx.Memory()))
	for _, task := range ctx.Running() {
		samples = append(samples, ctx.Candidates(task)...)
	}
	samples = someOfEach(samples, most)
	features, err := unitFeatures(ctx, samples)
	if err != nil {
		return err
	}
	m.means, m.tasks = map[int][]float64{}, map[int][]int{}
	of, classes := grouped(len(samples), func(i int) int { return samples[i].Class })
	for _, c := range classes {
		mean := make([]float64, len(features[0]))
		for _, i := range of[c] {
			floats.Add(mean, features[i])
			if task := samples[i].Task; !slices.Contains(m.tasks[c], task) {
				m.tasks[c] = append(m.tasks[c], task)
			}
		}
		toLengthOne(mean)
		m.means[c] = mean
	}
	return nil
}

// someOfEach returns at most so many samples of each class, in their order.
func someOfEach(samples []memory.Item, most int) []memory.Item {
	if len(samples) <= most {
		return samples
	}
	of, classes := grouped(len(samples), func(i int) int { return samples[i].Class })
	var places []int
	for _, c := range classes {
		n := len(of[c])
		for k := range min(n, most) {
			places = append(places, of[c][k*n/min(n, most)])
		}
	}
	slices.Sort(places)
	some := make([]memory.Item, len(places))
	for i, place := range places {
		some[i] = samples[place]
	}
	return some
}

// decides says whether the means choose among these classes: one of them must have a mean, which
// none has before the first samples came.
func (m *nearestMean) decides(classes []int) bool {
	return !m.never && slices.ContainsFunc(classes, m.known) && !(m.between && m.oneTask(classes))
}

func (m *nearestMean) known(class int) bool { return m.means[class] != nil }

// Snapshot copies the rule. Prepare makes new means and leaves the copy's alone.
func (m *nearestMean) Snapshot() (Point, Scorer) {
	copied := *m
	return Current, &copied
}

// Score compares the classes by −d², where d is the distance of a sample's features from the
// class's mean. Classes without a mean, or with a mean of another length than the features, are
// excluded.
func (m *nearestMean) Score(features []float32, classes []int, scores []float64) bool {
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

// oneTask says whether some task has samples of all of the classes that have any: a comparison of
// these is not one between tasks.
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

// unitFeatures are the samples' features, of length 1.
func unitFeatures(ctx Context, samples []memory.Item) (out [][]float64, err error) {
	if len(samples) == 0 {
		return nil, nil
	}
	features, err := ctx.Features(Current, samples)
	for _, f := range features {
		out = append(out, unit(f))
	}
	return out, err
}

// unit returns a vector scaled to length 1.
func unit(f []float32) []float64 {
	out := float64s(f)
	toLengthOne(out)
	return out
}

func float64s(v []float32) []float64 {
	out := make([]float64, len(v))
	for p, x := range v {
		out[p] = float64(x)
	}
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

package viz

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

func second(_ *Figure, err error) error { return err }

// TestRefused: what would make an empty or false figure is an error.
func TestRefused(t *testing.T) {
	change := func(f func(r *results.Run)) *results.Run {
		r := twoTasks()
		f(r)
		return r
	}
	blind, seen, alone := exact(), exact(), results.Record{IDs: []int{1}, Gram: []float64{1}, Weights: []float64{1}}
	blind.Gram, blind.Weights, seen.Weights = nil, blind.Lambda, seen.Lambda
	of := func(r ...results.Record) Recorded { return Recorded{Label: "a", Method: "mgda", Records: r} }
	silent := change(func(r *results.Run) { r.Method, r.Curve = "er", nil })
	for name, err := range map[string]error{
		"no runs":                  second(Accuracy(Light)),
		"no tasks":                 second(Accuracy(Light, &results.Run{ID: "x"})),
		"two increments":           second(Accuracy(Light, twoTasks(), change(func(r *results.Run) { r.Increment = "class" }))),
		"one method without curve": second(Accuracy(Light, twoTasks(), silent)),
		"other tasks":              second(TaskAccuracy(Light, twoTasks(), change(func(r *results.Run) { r.Tasks = r.Tasks[:1] }))),
		"no curve of tasks":        second(TaskCurves(Light, silent)),
		"no ends":                  second(LearningProcess(Light, twoTasks())),
		"no ends, matrix":          second(AccuracyMatrix(Light, twoTasks())),
		"timelines":                second(AccuracyMatrix(Light, twoTasks(), change(func(r *results.Run) { r.Tasks[1].Start = 3 }))),
		"no budget":                second(MemorySize(Light, twoTasks())),
		"one budget":               second(MemorySize(Light, change(func(r *results.Run) { r.Config = []byte(`{"memory":{"policy":"per_class","budget":5}}`) }))),
		"tau":                      second(Temperature(Light, change(func(r *results.Run) { r.Method, r.Params = "emgd-gmc", map[string]any{"tau": "-1"} }))),
		"no profiles":              second(Profiles(Light)),
		"one increment":            second(TradeOff(Light, twoTasks())),
		"no scenario":              second(Scenarios(Light)),
		"bad scenario":             second(Scenarios(Light, &scenario.Scenario{})),
		"no records":               second(StreamWeights(Light, nil)),
		"order of records":         second(Slacks(Light, []results.Record{exact(), exact()})),
		"no certificate":           second(Certificates(Light, []results.Record{{IDs: []int{1}}})),
		"no weights":               second(StreamWeights(Light, []results.Record{{IDs: []int{1}}})),
		"no Gram":                  second(Conflicts(Light, []results.Record{blind})),
		"one stream":               second(Conflicts(Light, []results.Record{alone})),
		"never met":                second(MeasuredRatio(Light, []results.Record{exact()}, 1, 7)),
		"geometry without Gram":    second(StepGeometry(Light, blind)),
		"no pair":                  second(Ratio(Light)),
		"a zero gradient":          second(Ratio(Light, []float64{0, 0, 0, 1})),
		"no recorded runs":         second(GradientNorms(Light)),
		"no records of a run":      second(MemoryRow(Light, of())),
		"not observed":             second(ConflictShare(Light, of(blind))),
		"no memory":                second(MemoryRow(Light, of(alone))),
		"no losses after":          second(Promises(Light, 0.1, of(seen))),
		"no drifts":                second(FeatureDrift(Light)),
		"no claims":                second(Claims(Light, "points", 0.05)),
		"uneven claim":             second(Claims(Light, "points", 0.05, Claim{"uneven", []float64{1}, nil})),
		"no images":                second(EditedImages(Light)),
		"no maps":                  second(Features(Light, nil)),
		"no times":                 second(StepTimes(Light)),
		"no traces":                second(ToyDescent(Light)),
		"arrival":                  second(ToyPaths(Light, Trace{X: []float64{1, 2}, Arrival: 5})),
		"trace NaN":                second(ToyPaths(Light, Trace{X: []float64{1, math.NaN()}, Y: []float64{1, 2}, F1: []float64{1, 2}, F2: []float64{1, 2}})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Geometry([][]float64{{1}, {1, 2}}, []float64{1, 1}); err == nil {
		t.Error("gradients of two lengths")
	}
	if _, err := RehearsalCosine([][]float64{{1}, {2}}, []int{1, 1}, []bool{false, false}); err == nil {
		t.Error("cosines without rehearsal samples")
	}
	if _, err := RelativeDrift([][]float64{{1}, {1}}, [][]float64{{1}, {1}}); err == nil {
		t.Error("a drift of equal features")
	}
}

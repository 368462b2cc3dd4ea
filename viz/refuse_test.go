package viz

import (
	"testing"

	"github.com/parallelcl/parallelcl/emgd"
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
	blind, alone := exact(), results.Record{IDs: []int{1}, Gram: []float64{1}, Weights: []float64{1}}
	blind.Gram, blind.Weights = nil, blind.Lambda
	silent := change(func(r *results.Run) { r.Method, r.Curve = "er", nil })
	for name, err := range map[string]error{
		"no runs":                  second(Accuracy()),
		"no tasks":                 second(Accuracy(&results.Run{ID: "x"})),
		"two increments":           second(Accuracy(twoTasks(), change(func(r *results.Run) { r.Increment = "class" }))),
		"one method without curve": second(Accuracy(twoTasks(), silent)),
		"other tasks":              second(TaskAccuracy(twoTasks(), change(func(r *results.Run) { r.Tasks = r.Tasks[:1] }))),
		"no curve of tasks":        second(TaskCurves(silent)),
		"no ends":                  second(LearningProcess(twoTasks())),
		"no ends, matrix":          second(AccuracyMatrix(twoTasks())),
		"timelines":                second(AccuracyMatrix(twoTasks(), change(func(r *results.Run) { r.Tasks[1].Start = 3 }))),
		"no budget":                second(MemorySize(twoTasks())),
		"one budget": second(MemorySize(change(func(r *results.Run) {
			r.Config = []byte(`{"memory":{"policy":"per_class","budget":5}}`)
		}))),
		"tau": second(Temperature(change(func(r *results.Run) {
			r.Method, r.Params = "emgd-gmc", map[string]any{"tau": "-1"}
		}))),
		"no profiles":        second(Profiles()),
		"one increment":      second(TradeOff(twoTasks())),
		"no scenario":        second(Scenarios()),
		"bad scenario":       second(Scenarios(&scenario.Scenario{})),
		"no records":         second(StreamWeights(nil)),
		"order of records":   second(Certificates([]results.Record{exact(), exact()})),
		"no certificate":     second(Certificates([]results.Record{{IDs: []int{1}}})),
		"no weights":         second(StreamWeights([]results.Record{{IDs: []int{1}}})),
		"no Gram":            second(Conflicts([]results.Record{blind})),
		"one stream":         second(Conflicts([]results.Record{alone})),
		"a floor that binds": second(StepGeometry(nil, &emgd.Certificate{Status: emgd.FloorBinding})),
		"no pair":            second(Ratio()),
		"no images":          second(EditedImages()),
		"no maps":            second(Features(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

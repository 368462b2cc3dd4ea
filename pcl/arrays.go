package pcl

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/npz"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// ArraysDir is the folder of a run that RunOptions.RecordArrays fills: model.json, init.npz with the
// starting parameters, and one step-NNNNNN.npz per step with what went in and what came out. Another
// implementation can compute the steps again from it.
const ArraysDir = "arrays"

// arraysModel describes the arrays to whoever reads them.
type arraysModel struct {
	Model     string        `json:"model"`
	Params    []model.Param `json:"params"` // of the flat vector theta, in order
	Backbone  int           `json:"backbone"`
	Total     int           `json:"total"`
	Shared    int           `json:"shared"` // the first entries are in J; the others move by the sum of the gradients
	Method    string        `json:"method"`
	Settings  any           `json:"method_params"`
	Optimizer Optimizer     `json:"optimizer"`
	Targets   []string      `json:"targets"` // rows of the array "targets"
}

// beginArrays writes the model and its parameters, and has the learner export its first steps.
func (r *runner) beginArrays() error {
	if r.options.RecordArrays == 0 {
		return nil
	}
	dir := filepath.Join(r.folder.work, ArraysDir)
	l := r.learner
	layout := l.options.Model.Layout()
	about, err := json.MarshalIndent(arraysModel{
		Model: l.options.Model.Key(), Params: layout.Params, Backbone: layout.Backbone, Total: layout.Total,
		Shared: l.programs.shared, Method: r.config.Method, Settings: r.config.Params, Optimizer: l.options.Optimizer,
		Targets: []string{"lo", "hi", "label", "valid", "task_lo", "task_hi"},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, "model.json"), append(about, '\n')); err != nil {
		return err
	}
	if l.step == 0 { // a resumed run has written them already
		theta, err := l.Parameters()
		if err != nil {
			return err
		}
		if err := npz.Write(filepath.Join(dir, "init.npz"), map[string]npz.Array{"theta": {Shape: []int{len(theta)}, Data: theta}}); err != nil {
			return err
		}
	}
	l.export = func(s *StepReport) error {
		if s.Step >= r.options.RecordArrays {
			return nil
		}
		return l.writeArrays(filepath.Join(dir, fmt.Sprintf("step-%06d.npz", s.Step)), s)
	}
	return nil
}

// writeArrays writes the batches of the step being made, its weights, and the parameters after it.
func (l *Learner) writeArrays(path string, s *StepReport) error {
	theta, err := l.theta32()
	if err != nil {
		return err
	}
	var x []float32
	var ids, targets []int32
	var losses []float64
	for _, row := range l.rows {
		if !slices.Contains(s.IDs, row.id) {
			continue // skipped: not finite
		}
		ids, losses = append(ids, int32(row.id)), append(losses, row.value)
		x, targets = append(x, row.batch.X...), append(targets, row.batch.targets...)
	}
	k, b := len(ids), l.options.Batch
	return npz.Write(path, map[string]npz.Array{
		"ids": {Shape: []int{k}, Data: ids}, "losses": {Shape: []int{k}, Data: losses},
		"weights": {Shape: []int{k}, Data: s.Weights},
		"x":       {Shape: []int{k, b, l.options.Model.Inputs()}, Data: x},
		"targets": {Shape: []int{k, targetRows, b}, Data: targets},
		"theta":   {Shape: []int{len(theta)}, Data: theta},
	})
}

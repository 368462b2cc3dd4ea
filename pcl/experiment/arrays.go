package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/npz"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// arraysDir is the name of the folder, in that of a run, which [Store].RecordArrays fills. It holds
// model.json, init.npz with the starting parameters, and for each step one step-NNNNNN.npz with the
// inputs and the results. Another implementation can use them to compute the same steps.
const arraysDir = "arrays"

// arraysModel is the content of model.json, which describes the arrays.
type arraysModel struct {
	Model     string        `json:"model"`
	Params    []model.Param `json:"params"` // of the flat vector theta, in order
	Backbone  int           `json:"backbone"`
	Total     int           `json:"total"`
	Shared    int           `json:"shared"` // so many first entries are shared; the others move by the sum of the gradients
	Method    string        `json:"method"`
	Settings  any           `json:"method_params"`
	Optimizer optim.Config  `json:"optimizer"`
	Targets   []string      `json:"targets"` // rows of the array "targets"
}

// targetRows names the rows of [pcl.Trace].Targets.
var targetRows = []string{"lo", "hi", "label", "valid", "task_lo", "task_hi"}

// beginArrays writes the starting parameters, if arrays are recorded.
func (r *runner) beginArrays() error {
	if r.work.RecordArrays > 0 && r.learner.Steps() == 0 { // a resumed run has written them already
		theta, err := r.learner.Parameters()
		if err != nil {
			return err
		}
		path := filepath.Join(r.dir, arraysDir, "init.npz")
		if err := npz.Write(path, map[string]npz.Array{"theta": {Shape: []int{len(theta)}, Data: theta}}); err != nil {
			return err
		}
	}
	return nil
}

// describe writes model.json.
func (r *runner) describe(t *pcl.Trace) error {
	o := r.learner.Options()
	layout := o.Model.Layout()
	about, err := json.MarshalIndent(arraysModel{
		Model: o.Model.Key(), Params: layout.Params, Backbone: layout.Backbone, Total: layout.Total,
		Shared: t.Shared, Method: r.config.Method, Settings: r.config.Params, Optimizer: r.config.Optimizer.WithDefaults(),
		Targets: targetRows,
	}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(r.dir, arraysDir, "model.json"), append(about, '\n'))
}

// stepFile is the name of the file with the arrays of a step, counted from 0.
func stepFile(step int) string { return fmt.Sprintf("step-%06d.npz", step) }

// trace writes the arrays of a step: its batches, its weights, and the parameters after it.
func (r *runner) trace(t *pcl.Trace) error {
	if t.Step >= r.work.RecordArrays {
		return nil
	}
	if t.Step == 0 {
		if err := r.describe(t); err != nil {
			return err
		}
	}
	theta, err := t.Theta()
	if err != nil {
		return err
	}
	var x []float32
	var ids, targets []int32
	for i, id := range t.IDs {
		ids, x, targets = append(ids, int32(id)), append(x, t.X[i]...), append(targets, t.Targets[i]...)
	}
	o, k := r.learner.Options(), len(ids)
	path := filepath.Join(r.dir, arraysDir, stepFile(t.Step))
	arrays := map[string]npz.Array{
		"ids": {Shape: []int{k}, Data: ids}, "losses": {Shape: []int{k}, Data: t.Losses},
		"weights": {Shape: []int{k}, Data: t.Weights},
		"x":       {Shape: []int{k, o.Batch, o.Model.Inputs()}, Data: x},
		"targets": {Shape: []int{k, len(targetRows), o.Batch}, Data: targets},
		"theta":   {Shape: []int{len(theta)}, Data: theta},
	}
	addLosses(arrays, t, o.Batch, o.Model.Outputs())
	return npz.Write(path, arrays)
}

// addLosses adds the arrays "loss", with the fields of each row's loss in the order of lossFields,
// and "reference", where a row is trained on anything but plain cross-entropy.
func addLosses(arrays map[string]npz.Array, t *pcl.Trace, batch, outputs int) {
	var losses []float64
	var reference []float32
	plain := true
	for i, l := range t.Loss {
		plain = plain && l == rehearsal.Loss{}
		losses = append(losses, lossFields(l)...)
		if len(t.Reference[i]) == batch*outputs {
			reference = append(reference, t.Reference[i]...)
		} else {
			reference = append(reference, slices.Repeat([]float32{rehearsal.NoReference}, batch*outputs)...)
		}
	}
	if !plain {
		arrays["loss"] = npz.Array{Shape: []int{len(t.Loss), len(losses) / len(t.Loss)}, Data: losses}
		arrays["reference"] = npz.Array{Shape: []int{len(t.Loss), batch, outputs}, Data: reference}
	}
}

// lossFields are the numbers of a loss; a truth value is 0 or 1.
func lossFields(l rehearsal.Loss) []float64 {
	number := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	return []float64{
		number(l.Sigmoid) + 2*number(l.StoredLogits), cmp.Or(l.Scale, 1), l.Distill, l.Teacher, l.Temperature, l.Adjust,
		number(l.Seen), number(l.Own),
		number(l.Cosine), l.Sharpness, number(l.Frobenius), l.ClassMargin, l.TaskMargin,
	}
}

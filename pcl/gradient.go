package pcl

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// batchInputs lists the parameters of the programs that see a batch: θ, the pixels, and the targets
// of [hostBatch], one row for each of lo, hi, label and valid.
func (p *programs) batchInputs() []program.Input {
	return []program.Input{
		{Name: "theta", Shape: shapes.Make(dtypes.Float32, p.total())},
		{Name: "x", Shape: shapes.Make(dtypes.Float32, p.batch, p.model.Inputs())},
		{Name: "targets", Shape: shapes.Make(dtypes.Int32, targetRows, p.batch)},
	}
}

// buildGradient gives one stream's gradient of all parameters, flat, and its loss: the mean over the
// samples that are no padding.
func (p *programs) buildGradient(in []*graph.Node) []*graph.Node {
	parts := p.model.Layout().Split(in[0])
	logits := p.model.Forward(model.Pass{Params: primal(parts), X: model.Dual{Value: in[1]}}).Logits
	valid := graph.ConvertDType(p.target(in[2], 3), dtypes.Float32)
	loss := model.CrossEntropy(logits, model.Targets{
		Lo: p.target(in[2], 0), Hi: p.target(in[2], 1), Label: p.target(in[2], 2),
		Weight: graph.Div(valid, graph.ReduceAllSum(valid)),
	}).Value
	return []*graph.Node{model.Join(graph.Gradient(loss, parts...)), loss}
}

func (p *programs) buildPredict(in []*graph.Node) []*graph.Node {
	logits := p.model.Forward(model.Pass{Params: primal(p.model.Layout().Split(in[0])), X: model.Dual{Value: in[1]}}).Logits
	return []*graph.Node{model.Predict(logits.Value, p.target(in[2], 0), p.target(in[2], 1))}
}

// target is one row of the targets, [B].
func (p *programs) target(targets *graph.Node, row int) *graph.Node {
	return graph.Reshape(graph.Slice(targets, graph.AxisRange(row, row+1)), p.batch)
}

func primal(parts []*graph.Node) []model.Dual {
	out := make([]model.Dual, len(parts))
	for i, n := range parts {
		out[i].Value = n
	}
	return out
}

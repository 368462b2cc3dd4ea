package pcl

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// batchInputs lists the parameters of the programs that see a batch: θ, x, lo, hi and, with
// targets, the label and weight of each sample.
func (p *programs) batchInputs(targets bool) []program.Input {
	float, integer := dtypes.Float32, dtypes.Int32
	in := []program.Input{
		{Name: "theta", Shape: shapes.Make(float, p.total())},
		{Name: "x", Shape: shapes.Make(float, p.batch, p.model.Inputs())},
		{Name: "lo", Shape: shapes.Make(integer, p.batch)},
		{Name: "hi", Shape: shapes.Make(integer, p.batch)},
	}
	if targets {
		in = append(in,
			program.Input{Name: "label", Shape: shapes.Make(integer, p.batch)},
			program.Input{Name: "weight", Shape: shapes.Make(float, p.batch)})
	}
	return in
}

// buildGradient gives one stream's gradient of all parameters, flat, and its loss.
func (p *programs) buildGradient(in []*graph.Node) []*graph.Node {
	parts := p.model.Layout().Split(in[0])
	_, logits := p.model.Forward(primal(parts), model.Dual{Value: in[1]})
	loss := model.CrossEntropy(logits, model.Targets{Lo: in[2], Hi: in[3], Label: in[4], Weight: in[5]}).Value
	return []*graph.Node{model.Join(graph.Gradient(loss, parts...)), loss}
}

func (p *programs) buildPredict(in []*graph.Node) []*graph.Node {
	_, logits := p.model.Forward(primal(p.model.Layout().Split(in[0])), model.Dual{Value: in[1]})
	return []*graph.Node{model.Predict(logits.Value, in[2], in[3])}
}

func primal(parts []*graph.Node) []model.Dual {
	out := make([]model.Dual, len(parts))
	for i, n := range parts {
		out[i].Value = n
	}
	return out
}

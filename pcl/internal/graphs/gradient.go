package graphs

import (
	"strconv"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// The rows of a batch's targets. For each sample they hold the range of outputs that compete, the output of the
// right class, the sample's weight in the mean loss (0 for padding), and the range of its task's outputs.
const (
	TargetLo = iota
	TargetHi
	TargetLabel
	TargetValid
	TargetTaskLo
	TargetTaskHi
	TargetRows
)

// batchInputs lists the inputs of a program that takes a batch: θ, the samples' values, the targets and, if asked for, a
// reference value for each output of each sample.
func (p *Set) batchInputs(reference bool) []program.Input {
	in := []program.Input{
		{Name: "theta", Shape: shapes.Make(dtypes.Float32, p.Total())},
		{Name: "x", Shape: shapes.Make(dtypes.Float32, p.Batch, p.Width())},
		{Name: "targets", Shape: shapes.Make(dtypes.Int32, TargetRows, p.Batch)},
	}
	if reference {
		in = append(in, program.Input{Name: "reference", Shape: shapes.Make(dtypes.Float32, p.Batch, p.Model.Outputs())})
	}
	return in
}

// evaluationInputs is batchInputs followed by the running statistics, if the model has any. Programs that do not
// train use them in place of the batch's own statistics.
func (p *Set) evaluationInputs(reference bool) []program.Input {
	in := p.batchInputs(reference)
	if n := p.Model.Layout().StatsTotal; n > 0 {
		in = append(in, program.Input{Name: "statistics", Shape: shapes.Make(dtypes.Float32, n)})
	}
	return in
}

const byParts = "gradient by parts"

// Gradient returns the program (θ, x, targets[, reference]) → (gradient, loss[, statistics of the batch]) for
// one batch. The loss is the weighted mean over the samples that are not padding. The gradient is one flat
// vector over all parameters. If it is asked for, a tensor for each parameter takes the place of θ. For n batches there are n times
// as many inputs after θ, and outputs: one call takes less time than n, and has the same bits.
func (p *Set) Gradient(l rehearsal.Loss, inParts bool, n int) *program.Program {
	batch := p.batchInputs(Referenced(l))
	in, name := batch[:1:1], "gradient"
	if inParts {
		in, name = nil, byParts
		for _, t := range p.Model.Layout().Params {
			in = append(in, program.Input{Name: t.Name, Shape: shapes.Make(dtypes.Float32, t.Dims...)})
		}
	}
	first, width := len(in), len(batch)-1
	for i := range n {
		for _, x := range batch[1:] {
			x.Name += strconv.Itoa(i)
			in = append(in, x)
		}
	}
	return p.lazy(programKey{name, l, n}, in, func(in []*graph.Node) (out []*graph.Node) {
		parts := in[:first]
		if !inParts {
			parts = p.Model.Layout().Split(in[0])
		}
		for at := first; at < len(in); at += width {
			out = append(out, p.differentiated(l, append([]*graph.Node{nil}, in[at:at+width]...), parts)...)
		}
		return out
	})
}

// differentiated builds what [Set.Gradient] returns of one batch. The first input is not used.
func (p *Set) differentiated(l rehearsal.Loss, in, parts []*graph.Node) []*graph.Node {
	return p.open(in, parts, nil).gradient(l, parts)
}

// gradient returns the gradient of the mean loss by the parts of θ, in one vector, the loss, and the statistics of the batch if
// there are any.
func (s *pass) gradient(l rehearsal.Loss, parts []*graph.Node) []*graph.Node {
	loss := graph.ReduceAllSum(graph.Mul(s.losses(l).Value, s.weight))
	out := []*graph.Node{model.Join(graph.Gradient(loss, parts...)), loss}
	if stats := s.out.Stats; len(stats) > 0 {
		out = append(out, model.Join(stats))
	}
	return out
}

// pass is one forward computation of the model, with everything that its losses need.
type pass struct {
	set       *Set
	params    []model.Dual
	targets   *graph.Node // [TargetRows, B]
	reference *graph.Node
	weight    *graph.Node // [B], each sample's share of the mean loss
	x         *graph.Node // the samples' inputs [B, inputs]
	wanted    *graph.Node // their target values [B, n]; nil for the cross-entropy of classes
	out       model.Output
}

// open builds the forward computation of a program's inputs (θ, x, targets[, reference]).
func (p *Set) open(in, parts, running []*graph.Node) *pass {
	s := p.begin(in)
	s.params = primal(parts)
	s.out = p.Model.Forward(model.Pass{Params: s.params, X: model.Dual{Value: s.x}, Weight: s.weight, Running: running})
	return s
}

// begin takes the inputs of a program (θ, x, targets[, reference]) apart. It does not run the model yet.
func (p *Set) begin(in []*graph.Node) *pass {
	s := &pass{set: p, targets: in[2]}
	if len(in) > 3 {
		s.reference = in[3]
	}
	valid := graph.ConvertDType(p.target(in[2], TargetValid), dtypes.Float32)
	s.x = in[1]
	if n := p.Model.Inputs(); p.Width() > n {
		s.x, s.wanted = columns(in[1], 0, n), columns(in[1], n, p.Width())
	}
	s.weight = graph.Div(valid, graph.ReduceAllSum(valid))
	return s
}

// columns returns some columns of a matrix.
func columns(x *graph.Node, from, to int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(), graph.AxisRange(from, to))
}

// evaluate is like open, but normalises with the running statistics, which are the last input if the model has
// any.
func (p *Set) evaluate(in []*graph.Node) *pass {
	var running []*graph.Node
	if p.Model.Layout().StatsTotal > 0 {
		last := len(in) - 1
		running, in = p.Model.Layout().SplitStats(in[last]), in[:last]
	}
	return p.open(in, p.Model.Layout().Split(in[0]), running)
}

// target returns one row of the targets, [B].
func (p *Set) target(targets *graph.Node, row int) *graph.Node {
	return graph.Reshape(graph.Slice(targets, graph.AxisRange(row, row+1)), p.Batch)
}

// primal returns duals without tangents.
func primal(parts []*graph.Node) []model.Dual {
	out := make([]model.Dual, len(parts))
	for i, n := range parts {
		out[i].Value = n
	}
	return out
}

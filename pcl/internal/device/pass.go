package device

import (
	"fmt"
	"strconv"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// The rows of a batch's targets. For each sample they hold the range of outputs that compete, the
// output of the right class, the sample's weight in the mean loss (0 for padding), and the range of
// its task's outputs.
const (
	targetLo = iota
	targetHi
	targetLabel
	targetValid
	targetTaskLo
	targetTaskHi
	targetRows
)

// batchInputs lists what a program takes of a batch, as [Batch.inputs] does: the samples' values,
// the targets and, for a loss that compares outputs with them, a reference value for each output of
// each sample.
func (p *Set) batchInputs(l rehearsal.Loss) []program.Input {
	in := []program.Input{
		{Name: "x", Shape: shapes.Make(dtypes.Float32, p.Batch, p.Width())},
		{Name: "targets", Shape: shapes.Make(dtypes.Int32, targetRows, p.Batch)},
	}
	if referenced(l) {
		in = append(in, program.Input{Name: "reference", Shape: shapes.Make(dtypes.Float32, p.Batch, p.Model.Outputs())})
	}
	return in
}

const byParts = "gradient by parts"

// gradient returns the program (θ, x, targets[, reference]) → (gradient, loss[, statistics of the
// batch]) for one batch. The loss is the weighted mean over the samples that are not padding. The
// gradient is one flat vector over all parameters. If it is asked for, a tensor for each parameter
// takes the place of θ. For n batches there are n times as many inputs after θ, and outputs: one
// call takes less time than n, and has the same bits.
func (p *Set) gradient(l rehearsal.Loss, inParts bool, n int) (*program.Program, error) {
	batch, name, in := p.batchInputs(l), "gradient", p.thetaInputs(inParts)
	if inParts {
		name = byParts
	}
	first, width := len(in), len(batch)
	for i := range n {
		for _, x := range batch {
			x.Name += strconv.Itoa(i)
			in = append(in, x)
		}
	}
	return p.lazy(programKey{name: name, loss: l, rows: n}, in, func(in []*graph.Node) (out []*graph.Node) {
		parts := p.split(in[:first])
		for at := first; at < len(in); at += width {
			out = append(out, p.begin(in[at:at+width]).open(parts).gradient(l)...)
		}
		return out
	})
}

// gradient returns the gradient of the mean loss by the parts of θ, in one vector, the loss, and
// the statistics of the batch if there are any.
func (s *pass) gradient(l rehearsal.Loss) []*graph.Node {
	loss := graph.ReduceAllSum(graph.Mul(s.losses(l).Value, s.weight))
	out := []*graph.Node{join(graph.Gradient(loss, s.parts...)), loss}
	if stats := s.out.Stats; len(stats) > 0 {
		out = append(out, join(stats))
	}
	return out
}

// pass is one forward computation of the model, with everything that its losses need.
type pass struct {
	set       *Set
	parts     []*graph.Node // of θ
	params    []model.Dual
	targets   *graph.Node // [targetRows, B]
	reference *graph.Node
	weight    *graph.Node   // [B], each sample's share of the mean loss
	x         *graph.Node   // the samples' inputs [B, inputs]
	wanted    *graph.Node   // their target values [B, n]; nil for the cross-entropy of classes
	running   []*graph.Node // the statistics to normalise with; nil stands for the batch's own
	out       model.Output
}

// onBatch returns a program of the inputs (θ, more…, what [Batch.inputs] has[, running
// statistics]). build is given the parts of θ.
func (p *Set) onBatch(key programKey, more []program.Input,
	build func(s *pass, theta, more []*graph.Node) []*graph.Node) (*program.Program, error) {
	in := p.thetaInputs(key.parts)
	first := len(in)
	in = append(in, more...)
	from := len(in)
	in = append(in, p.batchInputs(key.loss)...)
	to := len(in)
	if key.running {
		in = append(in, program.Input{Name: "statistics", Shape: shapes.Make(dtypes.Float32, p.Model.Layout().StatsTotal)})
	}
	return p.lazy(key, in, func(n []*graph.Node) []*graph.Node {
		s := p.begin(n[from:to])
		if key.running {
			s.running = split(n[to], p.Model.Layout().Stats)
		}
		return build(s, p.split(n[:first]), n[first:from])
	})
}

// thetaInputs is what a program takes of the parameters: one vector, or a tensor for each.
func (p *Set) thetaInputs(parts bool) (in []program.Input) {
	if !parts {
		return []program.Input{{Name: "theta", Shape: p.size()}}
	}
	for _, t := range p.Model.Layout().Params {
		in = append(in, program.Input{Name: t.Name, Shape: shapes.Make(dtypes.Float32, t.Dims...)})
	}
	return in
}

// split returns the parts of θ of what a program takes of it.
func (p *Set) split(theta []*graph.Node) []*graph.Node {
	if len(theta) == 1 {
		return split(theta[0], p.Model.Layout().Params)
	}
	return theta
}

// begin takes what a program has of a batch apart. It does not run the model yet.
func (p *Set) begin(in []*graph.Node) *pass {
	s := &pass{set: p, x: in[0], targets: in[1]}
	if len(in) > 2 {
		s.reference = in[2]
	}
	valid := graph.ConvertDType(p.target(s.targets, targetValid), dtypes.Float32)
	if n := p.Model.Inputs(); p.Width() > n {
		s.x, s.wanted = columns(in[0], 0, n), columns(in[0], n, p.Width())
	}
	s.weight = graph.Div(valid, graph.ReduceAllSum(valid))
	return s
}

// open runs the model. A direction, one node for each part of θ, makes the tangents; nil stands for
// zero. It counts as constant.
func (s *pass) open(parts []*graph.Node, direction ...*graph.Node) *pass {
	s.parts, s.params = parts, make([]model.Dual, len(parts))
	for i, n := range parts {
		s.params[i].Value = n
	}
	for i, v := range direction {
		if v != nil {
			s.params[i].Tangent = graph.StopGradient(v)
		}
	}
	s.out = s.set.Model.Forward(model.Pass{Params: s.params, X: model.Dual{Value: s.x}, Weight: s.weight,
		Running: s.running})
	return s
}

// split cuts a flat vector, of parameters or of running statistics, into one node for each of the
// tensors that it holds, in their shape. Take gradients with respect to these nodes and join them
// with [join]. Differentiating through the cuts instead would add up copies of the whole vector,
// padded with zeros.
func split(flat *graph.Node, tensors []model.Param) []*graph.Node {
	out, total := make([]*graph.Node, len(tensors)), 0
	for _, p := range tensors {
		total += p.Size()
	}
	if flat.Shape().Size() != total {
		panic(fmt.Errorf("a vector of %d entries, want %d", flat.Shape().Size(), total))
	}
	for i, p := range tensors {
		out[i] = graph.Reshape(graph.Slice(flat, graph.AxisRange(p.Offset, p.Offset+p.Size())), p.Dims...)
	}
	return out
}

// join is the inverse of [split].
func join(parts []*graph.Node) *graph.Node {
	flat := make([]*graph.Node, len(parts))
	for i, p := range parts {
		flat[i] = graph.Reshape(p, -1)
	}
	return graph.Concatenate(flat, 0)
}

// columns returns some columns of a matrix.
func columns(x *graph.Node, from, to int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(), graph.AxisRange(from, to))
}

// target returns one row of the targets, [B].
func (p *Set) target(targets *graph.Node, row int) *graph.Node {
	return graph.Reshape(graph.Slice(targets, graph.AxisRange(row, row+1)), p.Batch)
}

package pcl

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// programs holds everything that is compiled for one kind of learner. The gradient of one stream and the
// predictions are compiled once; the Gram matrix and the update once for each number of rows.
// Nothing depends on which streams are active, so nothing recompiles when they change.
type programs struct {
	backend compute.Backend
	counter program.Counter
	model   model.Model
	shared  int // leading parameters that are in J
	batch   int
	rule    optimizerRule

	gradient *program.Program
	predict  *program.Program
	grams    map[int]*program.Program
	updates  map[int]*program.Program
}

// Programs keeps what was compiled on one backend, so that learners of equal model, batch size and
// optimiser compile once. It serves one learner at a time.
type Programs struct {
	backend compute.Backend
	sets    map[string]*programs
}

// NewPrograms returns an empty collection; close it before the backend.
func NewPrograms(backend compute.Backend) *Programs {
	return &Programs{backend: backend, sets: map[string]*programs{}}
}

// Close releases the compiled code.
func (p *Programs) Close() {
	for _, set := range p.sets {
		set.close()
	}
	p.sets = nil
}

// set returns the programs of a learner.
func (p *Programs) set(o Options) (*programs, error) {
	key := fmt.Sprintf("%s shared=%d batch=%d %s", o.Model.Key(), o.shared(), o.Batch, o.Optimizer.key())
	if set := p.sets[key]; set != nil {
		return set, nil
	}
	set, err := newPrograms(p.backend, o.Model, o.shared(), o.Batch, o.Optimizer.rule())
	if err != nil {
		return nil, err
	}
	p.sets[key] = set
	return set, nil
}

func newPrograms(backend compute.Backend, m model.Model, shared, batch int, rule optimizerRule) (*programs, error) {
	p := &programs{
		backend: backend, model: m, shared: shared, batch: batch, rule: rule,
		grams: map[int]*program.Program{}, updates: map[int]*program.Program{},
	}
	var err error
	if p.gradient, err = program.Compile(backend, &p.counter, "gradient", p.batchInputs(true), p.buildGradient); err != nil {
		return nil, err
	}
	p.predict, err = program.Compile(backend, &p.counter, "predict", p.batchInputs(false), p.buildPredict)
	return p, err
}

func (p *programs) total() int { return p.model.Layout().Total }

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

// gram returns the program that maps K flat gradients to the K(K+1)/2 entries of JJᵀ, row by row
// below the diagonal.
func (p *programs) gram(k int) (*program.Program, error) {
	if g := p.grams[k]; g != nil {
		return g, nil
	}
	g, err := program.Compile(p.backend, &p.counter, fmt.Sprintf("gram-%d", k), p.gradientInputs(k), func(rows []*graph.Node) []*graph.Node {
		var entries []*graph.Node
		for i := range rows {
			for j := range i + 1 {
				entries = append(entries, graph.Reshape(p.inner(rows[i], rows[j]), 1))
			}
		}
		return []*graph.Node{graph.Concatenate(entries, 0)}
	})
	p.grams[k] = g
	return g, err
}

// lanes is how many float32 partial sums an inner product runs in before it goes on in float64:
// enough for vector units, and each sum short enough to keep its precision.
const lanes = 64

// inner is ⟨a,b⟩ over the shared parameters, in float64.
func (p *programs) inner(a, b *graph.Node) *graph.Node {
	return innerRange(a, b, 0, p.shared)
}

// innerRange is Σ aᵢbᵢ over from ≤ i < to, in float64.
func innerRange(a, b *graph.Node, from, to int) *graph.Node {
	sum := graph.ScalarZero(a.Graph(), dtypes.Float64)
	whole := from + (to-from)/lanes*lanes
	if whole > from {
		cut := func(x *graph.Node) *graph.Node {
			return graph.Reshape(graph.Slice(x, graph.AxisRange(from, whole)), -1, lanes)
		}
		sum = double(graph.ReduceSum(graph.Mul(cut(a), cut(b)), 0))
	}
	if whole < to {
		cut := func(x *graph.Node) *graph.Node { return graph.Slice(x, graph.AxisRange(whole, to)) }
		sum = graph.Add(sum, double(graph.Mul(cut(a), cut(b))))
	}
	return sum
}

// double sums in float64.
func double(x *graph.Node) *graph.Node {
	return graph.ReduceAllSum(graph.ConvertDType(x, dtypes.Float64))
}

func (p *programs) gradientInputs(k int) []program.Input {
	in := make([]program.Input, k)
	for i := range in {
		in[i] = program.Input{Name: fmt.Sprintf("g%d", i), Shape: shapes.Make(dtypes.Float32, p.total())}
	}
	return in
}

// update returns the program (θ, optimiser state…, w [K], hyper, g₁…g_K) → (θ, state…, ‖d‖²). The
// shared parameters move by d = Σ wᵢgᵢ, the private ones by the plain sum of the gradients
// (METHODS §0). A step that is not finite leaves everything as it was.
func (p *programs) update(k int) (*program.Program, error) {
	if u := p.updates[k]; u != nil {
		return u, nil
	}
	size := shapes.Make(dtypes.Float32, p.total())
	in := []program.Input{{Name: "theta", Shape: size, Donate: true}}
	for _, name := range p.rule.slots {
		in = append(in, program.Input{Name: name, Shape: size, Donate: true})
	}
	held := len(in)
	in = append(in,
		program.Input{Name: "w", Shape: shapes.Make(dtypes.Float32, k)},
		program.Input{Name: "hyper", Shape: shapes.Make(dtypes.Float32, hyperSize)})
	in = append(in, p.gradientInputs(k)...)
	u, err := program.Compile(p.backend, &p.counter, fmt.Sprintf("update-%d", k), in, func(n []*graph.Node) []*graph.Node {
		return p.buildUpdate(n[:held], n[held], n[held+1], n[held+2:])
	})
	p.updates[k] = u
	return u, err
}

func (p *programs) buildUpdate(state []*graph.Node, w, hyper *graph.Node, rows []*graph.Node) []*graph.Node {
	var d *graph.Node
	for i, g := range rows {
		wi := graph.Slice(w, graph.AxisRange(i, i+1)) // [1], broadcasts
		part := graph.Mul(g, p.coefficient(wi))
		if i == 0 {
			d = part
		} else {
			d = graph.Add(d, part)
		}
	}
	norm2 := p.inner(d, d)
	finite := graph.IsFinite(graph.Add(norm2, innerRange(d, d, p.shared, p.total())))
	next := p.rule.build(state, d, hyper)
	for i := range next {
		next[i] = graph.Where(finite, next[i], state[i])
	}
	return append(next, norm2)
}

// coefficient is w over the shared parameters and 1 over the private ones.
func (p *programs) coefficient(w *graph.Node) *graph.Node {
	n := p.total()
	if p.shared == n {
		return graph.BroadcastToDims(w, n)
	}
	index := graph.Iota(w.Graph(), shapes.Make(dtypes.Int32, n), 0)
	isShared := graph.LessThan(index, graph.Scalar(w.Graph(), dtypes.Int32, p.shared))
	wide := graph.BroadcastToDims(w, n)
	return graph.Where(isShared, wide, graph.OnesLike(wide))
}

// close releases the compiled code.
func (p *programs) close() {
	p.gradient.Close()
	p.predict.Close()
	for _, g := range p.grams {
		g.Close()
	}
	for _, u := range p.updates {
		u.Close()
	}
}

package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	gomlx "github.com/gomlx/gomlx/ml/model"
)

// scopedNet is a network whose backbone is a function of a GoMLX scope.
type scopedNet struct {
	plan
	name          string
	backbone      func(*gomlx.Scope, *graph.Node) *graph.Node
	params, stats []string   // paths of the scope's variables, in the order of the layout
	frozen        []variable // those that are not trainable
}

// NewScoped returns a network whose backbone is a function of a GoMLX scope, so that any layer of
// GoMLX can be used. A linear classifier follows it. backbone maps a batch of samples [B, inputs]
// to features [B, F]; it is called for each graph that is built, and must build the same layers
// each time. name stands for what backbone does: networks with equal names and sizes share compiled
// programs.
//
// The trainable variables of the scope, which must be of type float32, become the parameters, and
// start as their initialisers say. Variables that are not trainable keep the value that they begin
// with. For batch normalisation use [ScopedBatchNorm]; GoMLX's own knows neither padding nor the
// learner's running statistics. Layers that draw random numbers, such as dropout, are refused.
//
// The function has no tangents. Memory editing then takes the gradient of a gradient, which GoMLX
// has for most operations, but not for convolutions and pooling: a learner with editing refuses
// such a network. One that is built from the layers of this package ([Pass.Dense],
// [Layout.AddConvolution], …) can be edited.
func NewScoped(name string, inputs, outputs int, backbone func(scope *gomlx.Scope, x *graph.Node) *graph.Node) (Model,
	error) {
	if name == "" || inputs < 1 || outputs < 1 || backbone == nil {
		return nil, fmt.Errorf("model: network %q with %d inputs and %d outputs: it needs a name, a backbone, and "+
			"positive sizes", name, inputs, outputs)
	}
	m := &scopedNet{plan: plan{inputs: inputs, outputs: outputs}, name: name, backbone: backbone}
	variables, features, err := m.trace(0)
	if err != nil {
		return nil, fmt.Errorf("model: network %s: %w", name, err)
	}
	for _, v := range variables {
		if err := m.take(v); err != nil {
			return nil, fmt.Errorf("model: network %s: variable %s: %w", name, v.path, err)
		}
	}
	if len(m.params) == 0 {
		return nil, fmt.Errorf("model: network %s: its backbone has no trainable variables", name)
	}
	m.layout.AddClassifier(features, outputs)
	m.layout.draw = m.draw
	m.key = m.named()
	return m, nil
}

// take gives a variable of the scope its place in the layout.
func (m *scopedNet) take(v variable) error {
	name := strings.TrimPrefix(v.path, "/")
	switch {
	case v.dtype != dtypes.Float32:
		return fmt.Errorf("its type is %s, not float32", v.dtype)
	case v.trainable:
		m.layout.append(Param{Name: name, Dims: v.dims})
		m.params = append(m.params, v.path)
	case v.statistic:
		m.layout.addStat(name, v.values[0], len(v.values))
		m.stats = append(m.stats, v.path)
	case v.changed:
		return fmt.Errorf("it is not trainable, and the backbone changes it: for batch normalisation use " +
			"model.ScopedBatchNorm")
	default:
		m.frozen = append(m.frozen, v)
	}
	return nil
}

// named is the key: the name and sizes of the network, and a hash of the values that are not
// trained.
func (m *scopedNet) named() string {
	key := fmt.Sprintf("scoped-%s-%d-%d-%d", m.name, m.inputs, m.layout.Backbone, m.outputs)
	if len(m.frozen) == 0 {
		return key
	}
	sum := sha256.New()
	for _, v := range m.frozen {
		if err := binary.Write(sum, binary.LittleEndian, v.values); err != nil {
			panic(err) // a hash takes everything
		}
	}
	return fmt.Sprintf("%s-%x", key, sum.Sum(nil)[:8])
}

// WithOutputs returns the same network with another number of outputs.
func (m *scopedNet) WithOutputs(n int) (Model, error) {
	return NewScoped(m.name, m.inputs, n, m.backbone)
}

// Forward maps samples [B, inputs] to the backbone's features [B, F] and logits [B, outputs],
// neither of which has tangents.
func (m *scopedNet) Forward(p Pass) Output {
	if p.bfloat16 {
		panic(fmt.Errorf("model: network %s cannot be computed in bfloat16: its layers choose their own precision", m.name))
	}
	g := p.X.Value.Graph()
	m.bind(g, p)
	store := gomlx.NewStore()
	store.SetTraining(g, p.Running == nil)
	x := m.backbone(store.RootScope(), p.X.Value)
	m.check(store)
	features, n := Dual{Value: x}, len(m.params)
	weights, bias := Dual{Value: p.Params[n].Value}, Dual{Value: p.Params[n+1].Value}
	out := Output{Features: features, Logits: p.Dense(features, weights, bias)}
	if p.Running == nil {
		for _, path := range m.stats {
			out.Stats = append(out.Stats, store.GetVariable(path).NodeValue(g))
		}
	}
	return out
}

// bind gives the scope's variables the values of this pass, in graph g. A variable's value in a
// graph is found by its path. GoMLX would make it an input of the graph; that it is a constant
// first, of which nothing is left when the value is replaced, keeps the inputs those of the
// program.
func (m *scopedNet) bind(g *graph.Graph, p Pass) {
	set := func(path string, value *graph.Node) {
		store := gomlx.NewStore().WithVariableAsConst(true)
		v := store.VariableWithValue(path, float32(0))
		v.NodeValue(g)
		store.WithVariableAsConst(false)
		v.SetNodeValue(value)
	}
	for i, path := range m.params {
		set(path, p.Params[i].Value)
	}
	for i, path := range m.stats {
		value := graph.Zeros(g, shapes.Make(dtypes.Float32, m.layout.Stats[i].Dims...)) // replaced by the batch's own
		if p.Running != nil {
			value = p.Running[i]
		}
		set(path, value)
	}
	for _, v := range m.frozen {
		set(v.path, graph.Reshape(graph.Const(g, v.values), v.dims...))
	}
	gomlx.SetGraphParam(g, sampleShares, p.Weight)
}

// check panics if the backbone has made a variable that it had not made before.
func (m *scopedNet) check(store *gomlx.Store) {
	for v := range store.IterVariables() {
		known := slices.Contains(m.params, v.Path()) || slices.Contains(m.stats, v.Path()) ||
			slices.ContainsFunc(m.frozen, func(f variable) bool { return f.path == v.Path() })
		if !known {
			panic(fmt.Errorf("model: network %s: the backbone made variable %s, which it had not made when it was first "+
				"called: it must build the same layers each time", m.name, v.Path()))
		}
	}
}

package model

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	gomlx "github.com/gomlx/gomlx/ml/model"
)

// variable is what was found out about a variable of a GoMLX scope.
type variable struct {
	path      string
	dtype     dtypes.DType
	dims      []int
	trainable bool
	statistic bool      // made by ScopedBatchNorm
	changed   bool      // by the forward computation
	values    []float32 // its initial values; nil if it is not of type float32
}

// trace calls the backbone once to find its variables, their initial values for a seed, and the
// number of features. It uses the pure-Go backend, so that a seed means the same values whichever
// backend trains.
func (m *scopedNet) trace(seed int64) (found []variable, features int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("building its backbone failed: %v", r)
			if strings.Contains(err.Error(), "BatchNorm") {
				err = fmt.Errorf("%w: for batch normalisation use model.ScopedBatchNorm", err)
			}
		}
	}()
	backend, err := gobackend.New("ops_sequential")
	if err != nil {
		return nil, 0, err
	}
	defer backend.Finalize()
	store := gomlx.NewStore()
	if err := store.SetRNGStateFromSeed(seed); err != nil {
		return nil, 0, err
	}
	g := graph.NewGraph(backend, "trace")
	defer g.Finalize()
	store.SetTraining(g, true)
	const batch = 2
	x := graph.Parameter(g, "x", shapes.Make(dtypes.Float32, batch, m.inputs))
	y := m.backbone(store.RootScope(), x).Shape()
	if y.Rank() != 2 || y.Dimensions[0] != batch || y.DType != dtypes.Float32 {
		return nil, 0, fmt.Errorf("its backbone maps a batch %s to %s; want [%d, features] of float32", x.Shape(), y, batch)
	}
	changed := map[string]bool{} // by the graph
	for v := range store.IterVariables() {
		changed[v.Path()] = v.ChangedInGraph(g)
	}
	if changed["/"+gomlx.RNGStateVariableName] {
		return nil, 0, fmt.Errorf("its backbone draws random numbers, as dropout does: that cannot be used, since a step " +
			"could not be repeated")
	}
	if err := store.InitializeVariables(backend, nil); err != nil {
		return nil, 0, err
	}
	for v := range store.IterVariables() {
		if v.Path() == "/"+gomlx.RNGStateVariableName {
			continue // of the initialisers
		}
		one := variable{path: v.Path(), dtype: v.DType(), dims: v.Shape().Dimensions, trainable: v.Trainable,
			changed: changed[v.Path()]}
		one.statistic = !v.Trainable && isStatistic(path.Base(v.Path()))
		if one.dtype == dtypes.Float32 {
			if one.values, err = tensors.CopyFlatData[float32](v.MustValue()); err != nil {
				return nil, 0, err
			}
		}
		found = append(found, one)
	}
	return found, y.Dimensions[1], nil
}

// draw returns initial values of the backbone's parameters.
func (m *scopedNet) draw(rng *rand.Rand) []float32 {
	variables, _, err := m.trace(rng.Int64())
	if err != nil {
		panic(fmt.Errorf("model: network %s: %w", m.name, err)) // it was traced before
	}
	var flat []float32
	for _, v := range variables {
		if v.trainable {
			flat = append(flat, v.values...)
		}
	}
	return flat
}

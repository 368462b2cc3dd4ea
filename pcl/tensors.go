package pcl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// tensors cuts flat vectors into copies of their tensors.
func tensors(l *model.Layout, theta, statistics []float32) (all []safetensors.Tensor) {
	cut := func(params []model.Param, flat []float32) {
		for _, p := range params {
			all = append(all, safetensors.Tensor{
				Name: p.Name, Dims: slices.Clone(p.Dims), Values: slices.Clone(flat[p.Offset : p.Offset+p.Size()]),
			})
		}
	}
	cut(l.Params, theta)
	cut(l.Stats, statistics)
	return all
}

// arrange puts tensors into the flat vectors of a layout. For the backbone alone it ignores those
// of the classifier, and leaves the classifier's part of theta out. It makes no vectors before it
// knows that the tensors fit: a file of a few bytes may name a model of any size.
func arrange(l *model.Layout, all []safetensors.Tensor, backbone bool) (theta, statistics []float32, err error) {
	given := map[string]*safetensors.Tensor{}
	for i := range all {
		given[all[i].Name] = &all[i]
	}
	params, total := l.Params, l.Total
	if backbone {
		at := l.Classifier
		for _, p := range params[at:] {
			delete(given, p.Name)
		}
		params, total = params[:at], l.Backbone
	}
	if err := compare(slices.Concat(params, l.Stats), given); err != nil {
		return nil, nil, err
	}
	return join(params, total, given), join(l.Stats, l.StatsTotal, given), nil
}

// compare ends the work at the first difference between tensors and those of a model.
func compare(params []model.Param, given map[string]*safetensors.Tensor) error {
	others := maps.Clone(given)
	for _, p := range params {
		t := given[p.Name]
		delete(others, p.Name)
		switch {
		case t == nil:
			return fmt.Errorf("tensor %s of the model is missing; there are %.300q",
				p.Name, slices.Sorted(maps.Keys(given)))
		case !slices.Equal(t.Dims, p.Dims) || len(t.Values) != p.Size():
			return fmt.Errorf("tensor %s has the shape %v; the model wants %v", p.Name, t.Dims, p.Dims)
		case !fp.Finite(t.Values):
			return fmt.Errorf("tensor %s has a value that is not finite", p.Name)
		}
	}
	if len(others) > 0 {
		return fmt.Errorf("the model has no tensors %.300q", slices.Sorted(maps.Keys(others)))
	}
	return nil
}

// join puts the tensors of parameters into a flat vector.
func join(params []model.Param, total int, given map[string]*safetensors.Tensor) []float32 {
	flat := make([]float32, total)
	for _, p := range params {
		copy(flat[p.Offset:], given[p.Name].Values)
	}
	return flat
}

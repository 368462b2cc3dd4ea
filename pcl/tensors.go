package pcl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// arrange puts tensors into the flat vectors of a layout. For the backbone alone it ignores those of the classifier, and
// leaves the classifier's part of theta out. It makes no vectors before it knows that the tensors fit: a file of a few bytes
// may name a model of any size.
func arrange(l *model.Layout, all []safetensors.Tensor, backbone bool) (theta, statistics []float32, err error) {
	given := map[string]*safetensors.Tensor{}
	for i := range all {
		given[all[i].Name] = &all[i]
	}
	params, total := l.Params, l.Total
	if backbone {
		at := l.Classifier()
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

// compare returns an error that lists the differences between tensors and those of a model.
func compare(params []model.Param, given map[string]*safetensors.Tensor) error {
	var missing, extra, shapes, values []string
	wanted := map[string]bool{}
	for _, p := range params {
		wanted[p.Name] = true
		switch t := given[p.Name]; {
		case t == nil:
			missing = append(missing, p.Name)
		case !slices.Equal(t.Dims, p.Dims) || len(t.Values) != p.Size():
			shapes = append(shapes, fmt.Sprintf("%s is %v, want %v", p.Name, t.Dims, p.Dims))
		case !fp.Finite(t.Values):
			values = append(values, p.Name)
		}
	}
	for name := range given {
		if !wanted[name] {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	var parts []string
	for i, list := range [][]string{missing, extra, shapes, values} {
		if n := len(list); n > 0 {
			what := []string{"missing", "not in the model", "of another shape", "not finite"}[i]
			parts = append(parts, fmt.Sprintf("%s: %s", what, few(list)))
		}
	}
	if parts == nil {
		return nil
	}
	return errors.New("the tensors are not those of the model: " + strings.Join(parts, "; "))
}

// few joins the first of a list, and says how many more there are.
func few(list []string) string {
	const most = 6
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// join puts the tensors of parameters into a flat vector.
func join(params []model.Param, total int, given map[string]*safetensors.Tensor) []float32 {
	flat := make([]float32, total)
	for _, p := range params {
		copy(flat[p.Offset:], given[p.Name].Values)
	}
	return flat
}

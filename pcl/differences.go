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

// differences are what keeps a network's tensors from being those of a model.
type differences struct {
	missing, extra, shapes, values []string
}

// fill copies the tensors with the names and shapes of params into a flat vector, and takes them out of given.
func (d *differences) fill(flat []float32, params []model.Param, given map[string]*safetensors.Tensor) {
	for _, p := range params {
		t := given[p.Name]
		delete(given, p.Name)
		switch {
		case t == nil:
			d.missing = append(d.missing, p.Name)
		case !slices.Equal(t.Dims, p.Dims) || len(t.Values) != p.Size():
			d.shapes = append(d.shapes, fmt.Sprintf("%s is %v, want %v", p.Name, t.Dims, p.Dims))
		case !fp.Finite(t.Values):
			at := slices.IndexFunc(t.Values, func(x float32) bool { return x-x != 0 })
			d.values = append(d.values, fmt.Sprintf("%s has %g at entry %d", p.Name, t.Values[at], at))
		default:
			copy(flat[p.Offset:], t.Values)
		}
	}
}

// err lists the differences.
func (d *differences) err() error {
	slices.Sort(d.extra)
	var parts []string
	for _, part := range []struct {
		what string
		list []string
	}{{"missing", d.missing}, {"not in the model", d.extra}, {"of another shape", d.shapes}, {"not finite", d.values}} {
		if n := len(part.list); n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", part.what, few(part.list)))
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

package program

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// viewed is the inputs of a call in which buffers of other clients are replaced by views of them.
type viewed struct {
	inputs []compute.Buffer
	donate []bool
	views  []compute.Buffer
	spent  []compute.Buffer // buffers of other clients that the caller donated
}

// foreign reports whether a buffer belongs to another client of the same kind of backend. A buffer of another
// kind of backend is left to the executable, which refuses it.
func (p *Program) foreign(b compute.Buffer) bool {
	return b != nil && b.Backend() != p.client && reflect.TypeOf(b.Backend()) == reflect.TypeOf(p.client)
}

func (p *Program) anyForeign(inputs []compute.Buffer) bool {
	return slices.ContainsFunc(inputs, p.foreign)
}

// viewed makes the views for a call. A view cannot be donated; if its buffer was, free frees it after the call.
func (p *Program) viewed(inputs []compute.Buffer) (*viewed, error) {
	v := &viewed{inputs: slices.Clone(inputs), donate: slices.Clone(p.donate)}
	for i, b := range inputs {
		if !p.foreign(b) {
			continue
		}
		if i < len(v.donate) && v.donate[i] {
			v.donate[i], v.spent = false, append(v.spent, b)
		}
		view, err := backend.View(p.client, b)
		if err != nil {
			v.free()
			return nil, err
		}
		v.inputs[i], v.views = view, append(v.views, view)
	}
	return v, nil
}

// free frees the views, and then the donated buffers that they were views of.
func (v *viewed) free() {
	Free(v.views...)
	Free(v.spent...)
}

package program

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Bring returns a buffer on a client: b itself if it is there, else a copy, which drop frees.
func Bring(client compute.Backend, b compute.Buffer) (here compute.Buffer, drop func(), err error) {
	if b.Backend() == client {
		return b, func() {}, nil
	}
	here, err = backend.Copy(client, b)
	return here, func() { Free(here) }, err
}

// foreign reports whether a buffer belongs to another client of the same kind of backend. A buffer of another
// kind of backend is left to the executable, which refuses it.
func (p *Program) foreign(b compute.Buffer) bool {
	return b != nil && b.Backend() != p.client && reflect.TypeOf(b.Backend()) == reflect.TypeOf(p.client)
}

// own returns the inputs with buffers of other clients replaced by copies, and what has to be freed after the call: the copies that the
// call does not consume, and the donated buffers that were copied.
func (p *Program) own(inputs []compute.Buffer) (own, spent []compute.Buffer, err error) {
	for i, b := range inputs {
		if !p.foreign(b) {
			continue
		}
		if own == nil {
			own = slices.Clone(inputs)
		}
		c, err := backend.Copy(p.client, b)
		if err != nil {
			Free(spent...)
			return nil, nil, err
		}
		own[i] = c
		if i < len(p.donate) && p.donate[i] {
			spent = append(spent, b)
		} else {
			spent = append(spent, c)
		}
	}
	if own == nil {
		return inputs, nil, nil
	}
	return own, spent, nil
}

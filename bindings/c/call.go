package main

/*
#define PCL_TYPES_ONLY
#include "parallelcl.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// More rows, or more entries of a Jacobian, are a mistake of the caller.
const mostRows, mostEntries = 1 << 14, 1 << 40

// weights answers a call whose handle is open and locked.
func (r *rule) weights(c *C.pcl_call) error {
	problem, err := r.problem(c)
	if err != nil {
		return err
	}
	defer r.forget()
	r.weighed = fp.Grow(r.weighed, int(c.k)) // and not the caller's memory, which a call that fails leaves as it is
	out, err := r.Weights(problem, r.weighed)
	if err != nil {
		return err
	}
	give(c.weights, len(r.weighed), r.weighed)
	give(c.direction, len(out.Direction), out.Direction)
	r.giveDropped(c, out.Dropped)
	giveCertificate(c, out.Certificate)
	return nil
}

// mostKept is how many converted entries of a Jacobian are kept for the next call: 32 MB of them.
const mostKept = 1 << 22

// forget drops what points into the caller's memory, which may be gone after the call, and what is large.
func (r *rule) forget() {
	r.asked = weigh.Problem{}
	clear(r.rows)
	if cap(r.converted) > mostKept {
		r.converted = nil
	}
}

// problem returns what a call asks, without a copy of its arrays where that is possible.
func (r *rule) problem(c *C.pcl_call) (*weigh.Problem, error) {
	given := 0
	for _, is := range []bool{c.gram != nil, c.jacobian != nil, c.jacobian32 != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, errors.New("give one of gram, jacobian and jacobian32")
	case c.weights == nil:
		return nil, errors.New("weights is NULL")
	case c.k < 1 || c.k > mostRows:
		return nil, fmt.Errorf("k = %d rows; want 1 to %d", int64(c.k), mostRows)
	case c.gram == nil && (c.columns < 1 || c.columns > mostEntries/c.k):
		return nil, fmt.Errorf("columns = %d entries in a row; want at least 1, and at most %d in the whole Jacobian", int64(c.columns), int64(mostEntries))
	case c.gram != nil && c.direction != nil:
		return nil, errors.New("a direction needs the Jacobian")
	}
	k, p := int(c.k), &r.asked
	*p = weigh.Problem{NoDirection: c.direction == nil}
	if c.gram != nil {
		p.Gram = unsafe.Slice((*float64)(c.gram), k*k)
	} else {
		p.Rows = r.jacobian(c)
	}
	if c.losses != nil {
		p.Losses = unsafe.Slice((*float64)(c.losses), k)
	}
	if c.factors != nil {
		p.Sigma = unsafe.Slice((*float64)(c.factors), k)
	}
	p.IDs = r.ids(c.ids, k)
	return p, nil
}

// jacobian returns the rows of a call.
func (r *rule) jacobian(c *C.pcl_call) [][]float64 {
	k, columns := int(c.k), int(c.columns)
	var all []float64
	if c.jacobian != nil {
		all = unsafe.Slice((*float64)(c.jacobian), k*columns)
	} else {
		if n := k * columns; cap(r.converted) < n {
			all = make([]float64, n)
		} else {
			all = r.converted[:n]
		}
		for i, x := range unsafe.Slice((*float32)(c.jacobian32), k*columns) {
			all[i] = float64(x)
		}
		r.converted = all
	}
	r.rows = r.rows[:0]
	for i := range k {
		r.rows = append(r.rows, all[i*columns:(i+1)*columns])
	}
	return r.rows
}

// ids copies the ids, which have another type in C.
func (r *rule) ids(ids *C.int64_t, k int) []int {
	if ids == nil {
		return nil
	}
	r.named = r.named[:0]
	for _, id := range unsafe.Slice((*int64)(ids), k) {
		r.named = append(r.named, int(id))
	}
	return r.named
}

func (r *rule) giveDropped(c *C.pcl_call, dropped []int) {
	if c.left_out == nil {
		return
	}
	flags := unsafe.Slice((*uint8)(c.left_out), int(c.k))
	clear(flags)
	for _, id := range dropped {
		for i := range flags {
			if named := r.asked.IDs; named == nil && id == i+1 || named != nil && id == named[i] {
				flags[i] = 1
			}
		}
	}
}

// giveCertificate copies a certificate, or zeros if there is none.
func giveCertificate(c *C.pcl_call, from *emgd.Certificate) {
	k := int(c.k)
	status := int64(C.PCL_NO_CERTIFICATE)
	if from == nil {
		from = &emgd.Certificate{}
	} else {
		status = int64(from.Status)
	}
	give(c.sigma, k, from.Sigma)
	give(c.slacks, k, from.Slacks)
	if c.active != nil {
		flags := unsafe.Slice((*uint8)(c.active), k)
		clear(flags)
		for _, i := range from.Active {
			flags[i] = 1
		}
	}
	c.norm2, c.level, c.violation = C.double(from.Norm2), C.double(from.Level), C.double(from.Violation)
	c.gap, c.cancellation, c.floor = C.double(from.Gap), C.double(from.Cancellation), C.double(from.Floor)
	c.exponent, c.iterations, c.status = C.int64_t(from.Exponent), C.int64_t(from.Iterations), C.int64_t(status)
}

func give(to *C.double, k int, from []float64) {
	if to == nil {
		return
	}
	out := unsafe.Slice((*float64)(to), k)
	clear(out)
	copy(out, from)
}

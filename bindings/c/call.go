package main

/*
#define PCL_TYPES_ONLY
#include "parallelcl.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// More rows, or more entries of a Jacobian, are a mistake of the caller.
const mostRows, mostEntries = 1 << 14, 1 << 40

// weights answers a call whose handle is open and locked.
func (r *rule) weights(c *C.pcl_call) error {
	problem, err := problemOf(c)
	if err != nil {
		return err
	}
	w := make([]float64, int(c.k)) // and not the caller's memory, which a call that fails leaves as it is
	out, err := r.Weights(problem, w)
	if err != nil {
		return err
	}
	give(c.weights, len(w), w)
	give(c.direction, len(out.Direction), out.Direction)
	dropped := make([]int, len(out.Dropped))
	for i, id := range out.Dropped {
		if dropped[i] = id - 1; problem.IDs != nil {
			dropped[i] = slices.Index(problem.IDs, id)
		}
	}
	flag(c.left_out, len(w), dropped)
	giveCertificate(c, out.Certificate)
	return nil
}

// problemOf returns what a call asks, without a copy of its arrays where that is possible.
func problemOf(c *C.pcl_call) (*weigh.Problem, error) {
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
		return nil, fmt.Errorf("columns = %d entries in a row; want at least 1, and at most %d in the whole Jacobian",
			int64(c.columns), int64(mostEntries))
	case c.gram != nil && c.direction != nil:
		return nil, errors.New("a direction needs the Jacobian")
	}
	k := int(c.k)
	return &weigh.Problem{
		Gram: array[float64](c.gram, k*k), Rows: jacobian(c), Losses: array[float64](c.losses, k),
		Sigma: array[float64](c.factors, k), IDs: idsOf(c.ids, k), NoDirection: c.direction == nil,
	}, nil
}

// array is an array of C as a slice of Go; NULL is nil.
func array[Go, C any](p *C, n int) []Go {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*Go)(unsafe.Pointer(p)), n)
}

// jacobian returns the rows of a call; nil if it has a Gram matrix.
func jacobian(c *C.pcl_call) [][]float64 {
	n := int(c.k) * int(c.columns)
	all := array[float64](c.jacobian, n)
	converted := array[float32](c.jacobian32, n)
	all = slices.Grow(all, len(converted))
	for _, x := range converted {
		all = append(all, float64(x))
	}
	if all == nil {
		return nil
	}
	return slices.Collect(slices.Chunk(all, int(c.columns)))
}

// idsOf copies the ids, which have another type in C.
func idsOf(ids *C.int64_t, k int) (named []int) {
	for _, id := range array[int64](ids, k) {
		named = append(named, int(id))
	}
	return named
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
	flag(c.active, k, from.Active)
	c.norm2, c.level, c.violation = C.double(from.Norm2), C.double(from.Level), C.double(from.Violation)
	c.gap, c.cancellation, c.floor = C.double(from.Gap), C.double(from.Cancellation), C.double(from.Floor)
	c.exponent, c.iterations, c.status = C.int64_t(from.Exponent), C.int64_t(from.Iterations), C.int64_t(status)
}

// give copies an answer, and 0 where it has no number.
func give(to *C.double, k int, from []float64) {
	out := array[float64](to, k)
	clear(out)
	copy(out, from)
}

// flag sets the given rows to 1 and the others to 0.
func flag(to *C.uint8_t, k int, rows []int) {
	flags := array[uint8](to, k)
	clear(flags)
	for _, i := range rows {
		if flags != nil {
			flags[i] = 1
		}
	}
}

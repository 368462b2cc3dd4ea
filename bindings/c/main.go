// Command c is the C library: go build -buildmode=c-shared. `parallelcl.h` says what its functions
// do; this file has them in Go. None of them lets a panic through.
package main

/*
#include <stdlib.h>
#define PCL_TYPES_ONLY
#include "parallelcl.h"
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

func main() {}

// rule is what a handle stands for.
type rule struct {
	*weigh.Rule
	mutex  sync.Mutex
	broken bool // a panic left it in an unknown state
}

var rules = struct {
	sync.RWMutex
	open map[C.pcl_handle]*rule
	last C.pcl_handle
}{open: map[C.pcl_handle]*rule{}}

// errInternal marks the errors that come from a panic.
var errInternal = errors.New("internal error, which is a mistake in parallelcl")

// with runs do for the rule of a handle, which no other call uses meanwhile, and returns the code
// of its error.
func with(handle C.pcl_handle, text *C.char, size C.int64_t, do func(*rule) error) C.int64_t {
	rules.RLock()
	r := rules.open[handle]
	rules.RUnlock()
	if r == nil {
		return report(fmt.Errorf("there is no open rule with the handle %d", uint64(handle)), text, size)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.broken {
		return report(fmt.Errorf("%w; this rule had one before: open another, and give it the last saved state", errInternal),
			text, size)
	}
	err := guarded(func() error { return do(r) })
	r.broken = errors.Is(err, errInternal)
	return report(err, text, size)
}

// guarded turns a panic into an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errInternal, p)
		}
	}()
	return do()
}

// report writes the text of an error and returns its code.
func report(err error, text *C.char, size C.int64_t) C.int64_t {
	if err == nil {
		return C.PCL_OK
	}
	if text != nil && size > 0 {
		to := unsafe.Slice((*byte)(unsafe.Pointer(text)), int(size))
		to[copy(to[:len(to)-1], err.Error())] = 0
	}
	if errors.Is(err, errInternal) {
		return C.PCL_INTERNAL
	}
	return C.PCL_BAD_INPUT
}

//export pcl_abi
func pcl_abi() C.int64_t { return C.PCL_ABI }

//export pcl_open
func pcl_open(name, params *C.char, seed C.uint64_t, text *C.char, size C.int64_t) (handle C.pcl_handle) {
	report(guarded(func() error {
		made, err := open(name, params, uint64(seed))
		if err != nil {
			return err
		}
		rules.Lock()
		defer rules.Unlock()
		rules.last++
		handle = rules.last
		rules.open[handle] = &rule{Rule: made}
		return nil
	}), text, size)
	return handle
}

func open(name, params *C.char, seed uint64) (*weigh.Rule, error) {
	if name == nil {
		return nil, errors.New("the name of the rule is NULL")
	}
	given := ""
	if params != nil {
		given = C.GoString(params)
	}
	values, err := parametersOf(given)
	if err != nil {
		return nil, err
	}
	return weigh.New(C.GoString(name), values, seed)
}

// parametersOf reads the parameters of a method from a JSON object; an empty text has none.
func parametersOf(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var params map[string]any
	if err := json.Unmarshal([]byte(text), &params); err != nil {
		return nil, fmt.Errorf("the parameters are not a JSON object: %w", err)
	}
	return params, nil
}

//export pcl_close
func pcl_close(handle C.pcl_handle) {
	rules.Lock()
	delete(rules.open, handle)
	rules.Unlock()
}

//export pcl_weights
func pcl_weights(handle C.pcl_handle, call *C.pcl_call) C.int64_t {
	if call == nil {
		return C.PCL_BAD_INPUT
	}
	return with(handle, call.error, call.error_size, func(r *rule) error { return r.weights(call) })
}

//export pcl_follow
func pcl_follow(handle C.pcl_handle, k C.int64_t, ids *C.int64_t, losses *C.double, text *C.char,
	size C.int64_t) C.int64_t {
	return with(handle, text, size, func(r *rule) error {
		if losses == nil || k < 1 || k > mostRows {
			return fmt.Errorf("k = %d losses after the step, or losses is NULL; want 1 to %d", int64(k), mostRows)
		}
		return r.Follow(idsOf(ids, int(k)), array[float64](losses, int(k)))
	})
}

//export pcl_end
func pcl_end(handle C.pcl_handle, id C.int64_t, text *C.char, size C.int64_t) C.int64_t {
	return with(handle, text, size, func(r *rule) error {
		r.End(int(id))
		return nil
	})
}

//export pcl_state
func pcl_state(handle C.pcl_handle, length *C.int64_t, text *C.char, size C.int64_t) (state *C.char) {
	with(handle, text, size, func(r *rule) error {
		if length == nil {
			return errors.New("length is NULL")
		}
		data, err := r.State()
		if err != nil {
			return err
		}
		*length, state = C.int64_t(len(data)), C.CString(string(data))
		return nil
	})
	return state
}

//export pcl_set_state
func pcl_set_state(handle C.pcl_handle, state *C.char, length C.int64_t, text *C.char, size C.int64_t) C.int64_t {
	return with(handle, text, size, func(r *rule) error {
		if state == nil || length < 0 {
			return fmt.Errorf("a state of %d bytes at %p", int64(length), state)
		}
		return r.SetState([]byte(unsafe.String((*byte)(unsafe.Pointer(state)), int(length))))
	})
}

//export pcl_info
func pcl_info(name, params, text *C.char, size C.int64_t) (info *C.char) {
	report(guarded(func() error {
		r, err := open(name, params, 0)
		if err != nil {
			return err
		}
		data, err := r.Describe()
		if err == nil {
			info = C.CString(string(data))
		}
		return err
	}), text, size)
	return info
}

//export pcl_names
func pcl_names() *C.char { return C.CString(weigh.Names()) }

//export pcl_message
func pcl_message(status C.int64_t) *C.char { return C.CString(emgd.Status(status).Message()) }

//export pcl_free
func pcl_free(text *C.char) { C.free(unsafe.Pointer(text)) }

package rt

import (
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// A goroutine belongs to the cell of the outermost function of a cell on its stack.

// calls are the functions of cells on the goroutine's stack, the innermost first.
func calls() iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		pcs := make([]uintptr, 64)
		for skip := 0; ; skip += len(pcs) {
			n := runtime.Callers(skip, pcs)
			frames := runtime.CallersFrames(pcs[:n])
			for more := true; more; {
				var f runtime.Frame
				f, more = frames.Next()
				if strings.HasPrefix(f.Function, wire.CellPath) && !yield(f) {
					return
				}
			}
			if n < len(pcs) {
				return
			}
		}
	}
}

// owner is the cell that this goroutine belongs to. It is 0 for goroutines of libraries.
func owner() (id int) {
	outermost := ""
	for f := range calls() {
		outermost = f.Function
	}
	fmt.Sscanf(outermost, wire.CellPath+"%d", &id)
	return id
}

// trace lists the lines of cells on the stack.
func trace() (lines []string) {
	for f := range calls() {
		if i := strings.Index(f.File, "In["); i >= 0 {
			_, name, _ := strings.Cut(f.Function, ".")
			lines = append(lines, fmt.Sprintf("%s:%d %s", f.File[i:], f.Line, name))
		}
		if len(lines) == 100 {
			break
		}
	}
	return lines
}

// about is what a cell says of itself.
type about struct {
	origin string
	frame  func(func())
}

var entered sync.Map // by ID

// Enter is called by each cell before anything else. origin is a hash of what the cell is made of; frame is a function of the
// cell that calls another.
func Enter(id int, origin string, frame func(func())) { entered.Store(id, about{origin, frame}) }

// Origin is the hash of the cell that this goroutine belongs to.
func Origin() (origin string, ok bool) {
	a, ok := entered.Load(owner())
	if ok {
		origin = a.(about).origin
	}
	return origin, ok
}

// Guard returns a function like f for a goroutine of a cell: its panic ends the cell, but not the program. It calls f below a
// function of the cell, by which the goroutine belongs to it.
func Guard[F any](f F) F {
	id := owner()
	a, _ := entered.Load(id)
	v := reflect.ValueOf(f)
	call := v.Call
	if v.Type().IsVariadic() {
		call = v.CallSlice
	}
	guarded := reflect.MakeFunc(v.Type(), func(args []reflect.Value) (results []reflect.Value) {
		defer recovered(id)
		for out := range v.Type().Outs() { // of which a go statement makes nothing
			results = append(results, reflect.Zero(out))
		}
		a.(about).frame(func() { call(args) })
		return results
	})
	return guarded.Interface().(F)
}

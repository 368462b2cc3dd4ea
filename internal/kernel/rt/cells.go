// Package rt is what the translated cells of a notebook call, and what their process keeps of them. It imports none of the
// module's large packages: each cell is linked against all that this one imports.
package rt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// execution is a cell that has begun, or was stopped before.
type execution struct {
	ctx    context.Context
	stop   context.CancelCauseFunc // stops it, with why it failed
	over   atomic.Bool             // what it has started goes on
	origin string                  // a hash of what it is made of
}

var (
	executions sync.Map     // by ID; 0 has what belongs to no cell
	stopped    atomic.Int32 // how many of them were stopped and are not over
)

// errStopped is the panic of a goroutine whose cell was stopped, or ends itself.
var errStopped = errors.New(Stopped)

// find finds an execution, or makes it.
func find(id int) *execution {
	e := new(execution)
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	found, _ := executions.LoadOrStore(id, e)
	return found.(*execution)
}

// Stop stops a cell, also one that has not begun.
func Stop(id int) { find(id).stop(errStopped) }

const (
	grace     = 300 * time.Millisecond // for a cell that was stopped to end by itself
	lingering = 5 * time.Second        // that its goroutines are still looked for after its own has ended
)

// Run runs a cell in a goroutine of its own, and says why it failed. A cell that was stopped and does not end is left behind:
// it ends at its next check.
func Run(id int, cell func()) string {
	e, ended, failure := find(id), make(chan struct{}), ""
	go func() {
		defer close(ended)
		defer func() { failure = failureOf(recover()) }()
		cell()
	}()
	linger := context.AfterFunc(e.ctx, func() {
		stopped.Add(1)
		<-ended
		time.Sleep(lingering)
		e.over.Store(true)
		stopped.Add(-1)
	})
	select {
	case <-ended:
	case <-e.ctx.Done():
		select {
		case <-ended:
		case <-time.After(grace):
		}
	}
	if e.ctx.Err() == nil && linger() { // it was not stopped
		e.over.Store(true)
		e.stop(nil)
		return failure
	}
	return context.Cause(e.ctx).Error()
}

// Check ends the goroutine if its cell was stopped. Loops and functions of cells begin with it.
func Check() {
	if stopped.Load() > 0 && Context().Err() != nil {
		panic(errStopped)
	}
}

// Context is the context of the goroutine's cell, which ends when the cell is stopped.
func Context() context.Context {
	if e := find(owner()); !e.over.Load() {
		return e.ctx
	}
	return context.Background()
}

// Must returns v. An error ends the cell and is shown with the line that it came from.
func Must[T any](v T, err error) T {
	NoError(err)
	return v
}

// NoError ends the cell if there is an error.
func NoError(err error) {
	if err != nil {
		panic(err)
	}
}

// Exit stands for os.Exit: it ends the cell.
func Exit(code int) {
	if code != 0 {
		NoError(fmt.Errorf("exit status %d", code))
	}
	panic(errStopped)
}

// failureOf describes a panic that is one of the cell's, with the lines of cells on the way to it. It is called by the deferred
// function that has recovered it.
func failureOf(p any) string {
	if p == nil || p == errStopped {
		return ""
	}
	text := fmt.Sprint(p)
	_, isError := p.(error)
	if _, fault := p.(runtime.Error); fault || !isError { // unlike an error that the cell did not expect
		text = "panic: " + text
	}
	var lines []string
	for f := range calls() {
		if i := strings.Index(f.File, "In["); i >= 0 && len(lines) < 100 {
			_, name, _ := strings.Cut(f.Function, ".")
			lines = append(lines, fmt.Sprintf("%s:%d %s", f.File[i:], f.Line, name))
		}
	}
	if len(lines) == 0 {
		return text
	}
	at, _, _ := strings.Cut(lines[0], " ")
	lines[0] = at + ": " + text
	return strings.Join(lines, "\n\tcalled at ")
}

// A goroutine belongs to the cell of the outermost function of a cell on its stack.

// calls are the functions of cells on the goroutine's stack, the innermost first.
func calls() iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		pcs := make([]uintptr, 64)
		n := runtime.Callers(0, pcs)
		for n == len(pcs) { // there may be more
			pcs = make([]uintptr, 4*n)
			n = runtime.Callers(0, pcs)
		}
		frames := runtime.CallersFrames(pcs[:n])
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.HasPrefix(f.Function, CellPath) && !yield(f) {
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
	fmt.Sscanf(outermost, CellPath+"%d", &id)
	return id
}

// Enter is called by each cell before anything else. origin is a hash of what the cell is made of; pointers are those to its
// variables, by name.
func Enter(id int, origin string, pointers map[string]any) {
	find(id).origin = origin
	for name, p := range pointers {
		variables.Store(name, p)
	}
}

// Origin is the hash of the cell that this goroutine belongs to.
func Origin() (origin string, ok bool) {
	e := find(owner())
	return e.origin, e.origin != ""
}

// Guard returns a function like f for a goroutine of a cell: its panic ends the cell, but not the program. It calls f by a
// function of the cell, by which the goroutine belongs to it.
func Guard[F any](f F, frame func(func())) F {
	e, v := find(owner()), reflect.ValueOf(f)
	call := v.Call
	if v.Type().IsVariadic() {
		call = v.CallSlice
	}
	guarded := reflect.MakeFunc(v.Type(), func(args []reflect.Value) (results []reflect.Value) {
		defer e.recovered()
		for out := range v.Type().Outs() { // of which a go statement makes nothing
			results = append(results, reflect.Zero(out))
		}
		frame(func() { call(args) })
		return results
	})
	return guarded.Interface().(F)
}

// recovered takes the panic of a goroutine and stops its cell for it.
func (e *execution) recovered() {
	p := recover()
	if p == nil {
		return
	}
	why := errStopped
	if f := failureOf(p); f != "" {
		why = errors.New(f)
	}
	if !e.over.Load() {
		e.stop(why)
	} else if why != errStopped {
		fmt.Fprintln(os.Stderr, "A goroutine of an earlier cell has ended:", why)
	}
}

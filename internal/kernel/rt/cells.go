// Package rt is what the translated cells of a notebook call, and what their process keeps of them.
// It imports none of the module's large packages: each cell is linked against all that this one
// imports.
package rt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// execution is a cell that has begun, or was stopped before.
type execution struct {
	id     int
	ctx    context.Context
	stop   context.CancelCauseFunc // stops it, with why it failed
	over   atomic.Bool             // what it has started goes on
	label  atomic.Uintptr          // of its goroutine, and of those that come of it
	origin string                  // a hash of what it is made of
}

var (
	executions sync.Map                     // by ID
	labelled   sync.Map                     // the same, by the labels of their goroutines
	halted     atomic.Pointer[[]*execution] // those that were stopped and are not over
	halting    sync.Mutex                   // held while that changes
)

// stopped counts the cells that were stopped a short time ago; left counts all stopped cells that
// have not ended.
var stopped, left atomic.Int32

// Stopped says whether a cell was stopped a short time ago. Cells ask it and [Left] before they
// call [Halt]. The compiler inlines both, so that they cost no call.
func Stopped() bool { return stopped.Load() > 0 }

// Left says whether a stopped cell has not ended.
func Left() bool { return left.Load() > 0 }

// errStopped is the panic of a goroutine whose cell was stopped, or ends itself.
var errStopped = errors.New(StoppedText)

func find(id int) *execution {
	if found, ok := executions.Load(id); ok {
		return found.(*execution)
	}
	e := &execution{id: id}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	found, _ := executions.LoadOrStore(id, e)
	return found.(*execution)
}

// label returns the labels of the goroutine, which those that it starts have too, also in
// libraries.
//
//go:linkname label runtime/pprof.runtime_getProfLabel
func label() unsafe.Pointer

// owner is the cell that the goroutine belongs to: the one that started it, directly or not, or,
// where nobody knows (as in one that a timer started), or that cell is over, the cell whose code
// this is.
func owner(id int) *execution {
	if e, ok := labelled.Load(label()); ok && !e.(*execution).over.Load() {
		return e.(*execution)
	}
	return find(id)
}

// Stop stops a cell, also one that has not begun.
func Stop(id int) { find(id).stop(errStopped) }

const (
	grace     = 300 * time.Millisecond // for a cell that was stopped to end by itself
	looking   = time.Second            // for what computes to look whether it was stopped, which costs all that compute
	lingering = 5 * time.Second        // that its goroutines are still looked for after its own has ended
)

// Run runs a cell in a goroutine of its own, and says why it failed; of one that was stopped, what
// of it goes on. A cell that was stopped and does not end is left behind: it ends at its next
// check.
func Run(id int, cell func()) string {
	e, ended, failure := find(id), make(chan struct{}), ""
	go func() {
		defer close(ended)
		defer func() { failure = failureOf(recover()) }()
		if Label != nil {
			Label(id)
			labelled.Store(label(), e)
			e.label.Store(uintptr(label()))
		}
		cell()
	}()
	halt := context.AfterFunc(e.ctx, func() { e.halt(ended) })
	select {
	case <-ended:
	case <-e.ctx.Done():
		select {
		case <-ended:
		case <-time.After(grace):
		}
	}
	if e.ctx.Err() == nil && halt() { // it was not stopped
		e.over.Store(true)
		e.stop(nil)
		return failure
	}
	if why := context.Cause(e.ctx); why != errStopped {
		return why.Error()
	}
	return StoppedText + Still(id)
}

// halt has the cell's goroutines end. Code that computes looks for it only for a short time, so
// that a cell that waits for something, perhaps for ever, does not slow the others down. A
// goroutine that waits looks for it when it goes on.
func (e *execution) halt(ended <-chan struct{}) {
	change := func(by int32, list func(old []*execution) []*execution) {
		halting.Lock()
		defer halting.Unlock()
		var old []*execution
		if p := halted.Load(); p != nil {
			old = *p
		}
		now := list(old)
		halted.Store(&now)
		left.Add(by)
	}
	change(1, func(old []*execution) []*execution { return append(slices.Clip(old), e) })
	stopped.Add(1)
	time.Sleep(looking)
	stopped.Add(-1)
	<-ended
	time.Sleep(lingering)
	e.over.Store(true)
	change(-1, func(old []*execution) []*execution {
		return slices.DeleteFunc(slices.Clone(old), func(o *execution) bool { return o == e })
	})
}

// Halt ends the goroutine if its cell was stopped. id is the cell whose code this is.
func Halt(id int) {
	list := halted.Load()
	if list == nil {
		return
	}
	at := uintptr(label())
	for _, e := range *list {
		if at != 0 && e.label.Load() == at || e.id == id && owner(id) == e {
			panic(errStopped)
		}
	}
}

// Context is the context of the goroutine's cell, which ends when the cell is stopped. id is the
// cell whose code this is.
func Context(id int) context.Context {
	if e := owner(id); !e.over.Load() {
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

// failureOf describes a panic that is one of the cell's, with the lines of cells on the way to it.
// It is called by the deferred function that has recovered it.
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
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s:%d %s", f.File[i:], f.Line, nameOf(f.Function))))
		}
	}
	if len(lines) == 0 {
		return text
	}
	at, _, _ := strings.Cut(lines[0], " ")
	lines[0] = at + ": " + text
	return strings.Join(lines, "\n\tcalled at ")
}

// own is how functions are called that have no type parameters: as the user calls them, with
// another letter in place of the dot of a method, and the cell.
var own = regexp.MustCompile(`^ʇʇ(.*)ʇʇ\d+`)

// nameOf is the name of a function of a cell as the user knows it.
func nameOf(function string) string {
	name := own.ReplaceAllString(strings.TrimPrefix(function, CellPath), "$1")
	return strings.Trim(strings.ReplaceAll(name, "ꓸ", "."), ".")
}

// isCells says whether a function is one that the user has written.
func isCells(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, CellPath) && !strings.HasSuffix(f.File, "ʇʇ")
}

// calls are the functions of cells on the goroutine's stack, the innermost first, without the
// guards that have run.
func calls() iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		inner := ""
		for f := range stack() {
			if isCells(f) && inner != guardName && !yield(f) {
				return
			}
			inner = f.Function
		}
	}
}

// stack is the goroutine's stack, the innermost function first.
func stack() iter.Seq[runtime.Frame] {
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
			if f, more = frames.Next(); !yield(f) {
				return
			}
		}
	}
}

// Enter is called by each cell before anything else. origin is a hash of what the cell is made of;
// pointers are those to its variables, by name.
func Enter(id int, origin string, pointers map[string]any) {
	find(id).origin = origin
	if e, ok := labelled.Load(label()); ok { // another one, which declares all cells again
		e.(*execution).origin = origin
	}
	for name, p := range pointers {
		variables.Store(name, p)
	}
}

// Origin is the hash of the cell that this goroutine belongs to.
func Origin() (origin string, ok bool) {
	e, ok := labelled.Load(label())
	if !ok {
		return "", false
	}
	origin = e.(*execution).origin
	return origin, origin != ""
}

// Package rt is what the cells of a notebook call in the process in which all of them run, and that process's side of the
// conversation with the kernel. Nothing else uses it.
package rt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// execution is a cell that runs, or has run and may have left goroutines behind.
type execution struct {
	id     int
	ctx    context.Context
	cancel context.CancelFunc
	failed *wire.Failure // of a goroutine that it has started, by which it ends
}

var (
	mu       sync.Mutex
	running  = map[int]*execution{}
	stopped  = map[int]bool{} // executions that were stopped; their goroutines end at their next check
	stopping atomic.Bool      // whether there are any
)

// errStopped is the panic of a goroutine whose cell was stopped, exit that of one that ends its cell.
var errStopped = errors.New("stopped")

type exit int

// Check ends the goroutine if its cell was stopped. Loops and functions of cells begin with it.
func Check() {
	if stopping.Load() {
		checkSlowly()
	}
}

func checkSlowly() {
	id := Owner()
	mu.Lock()
	ends := stopped[id]
	mu.Unlock()
	if ends {
		panic(errStopped)
	}
}

// Owner returns the cell that this goroutine belongs to: the outermost function of a cell on its stack. It is 0 for
// goroutines of libraries.
func Owner() (id int) {
	pcs := make([]uintptr, 64)
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:n])
		for {
			frame, more := frames.Next()
			if rest, ok := strings.CutPrefix(frame.Function, wire.CellPath); ok {
				fmt.Sscanf(rest, "%d", &id)
			}
			if !more {
				break
			}
		}
		if n < len(pcs) {
			return id
		}
	}
}

// Context is the context of the goroutine's cell, which ends when the cell is stopped.
func Context() context.Context {
	id := Owner()
	mu.Lock()
	defer mu.Unlock()
	if e, ok := running[id]; ok {
		return e.ctx
	}
	if stopped[id] {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx
	}
	for _, e := range running { // a function of an earlier cell, which a library calls
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
		panic(failure{err})
	}
}

// failure is the panic of an error that a cell did not expect.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Exit stands for os.Exit: it ends the cell.
func Exit(code int) { panic(exit(code)) }

// Fatal, Fatalln and Fatalf stand for the functions of package log.
func Fatal(v ...any) { fatal(fmt.Sprint(v...)) }

// Fatalln is log.Fatalln.
func Fatalln(v ...any) { fatal(fmt.Sprintln(v...)) }

// Fatalf is log.Fatalf.
func Fatalf(format string, v ...any) { fatal(fmt.Sprintf(format, v...)) }

func fatal(text string) { panic(failure{errors.New(strings.TrimSuffix(text, "\n"))}) }

// Guard returns a function like f for a goroutine of a cell: its panic ends the cell, but not the program.
func Guard[F any](f F) F {
	id := Owner()
	v := reflect.ValueOf(f)
	guarded := reflect.MakeFunc(v.Type(), func(args []reflect.Value) (results []reflect.Value) {
		defer recovered(id)
		results = make([]reflect.Value, v.Type().NumOut()) // of which a go statement makes nothing
		for i := range results {
			results[i] = reflect.Zero(v.Type().Out(i))
		}
		call := v.Call
		if v.Type().IsVariadic() {
			call = v.CallSlice
		}
		within(id, func() { call(args) })
		return results
	})
	return guarded.Interface().(F)
}

// Enter is called by each cell before anything else. origin is a hash of what the cell is made of; frame is a function of the
// cell that calls another.
func Enter(id int, origin string, frame func(func())) {
	mu.Lock()
	defer mu.Unlock()
	entered[id] = about{frame, origin}
}

// about is what a cell says of itself.
type about struct {
	frame  func(func())
	origin string
}

var entered = map[int]about{}

// Origin is the hash of the cell that this goroutine belongs to.
func Origin() (origin string, ok bool) {
	id := Owner()
	mu.Lock()
	defer mu.Unlock()
	a, ok := entered[id]
	return a.origin, ok
}

// within calls f below a function of a cell, by which [Owner] finds whose goroutine it is.
func within(id int, f func()) {
	mu.Lock()
	frame := entered[id].frame
	mu.Unlock()
	if frame == nil {
		f()
		return
	}
	frame(f)
}

// recovered takes the panic of a goroutine and ends its cell with it.
func recovered(id int) {
	p := recover()
	if p == nil || p == errStopped {
		return
	}
	f := failureOf(p)
	mu.Lock()
	e := running[id]
	if e != nil && e.failed == nil {
		e.failed = f
	}
	mu.Unlock()
	if e == nil {
		fmt.Fprintln(os.Stderr, "A goroutine of an earlier cell has ended: "+f.Error())
		return
	}
	e.cancel()
}

// failureOf describes a panic. It is called by the deferred function that has recovered it.
func failureOf(p any) *wire.Failure {
	f := &wire.Failure{Name: "panic", Text: fmt.Sprint(p), Trace: trace()}
	switch p := p.(type) {
	case exit:
		f.Name, f.Text = "exit", fmt.Sprintf("exit status %d", int(p))
	case failure:
		f.Name = "error"
	case error:
		if p == errStopped {
			f.Name, f.Text = "stopped", ""
		}
	}
	return f
}

// trace lists the lines of cells on the stack.
func trace() (lines []string) {
	pcs := make([]uintptr, 512)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if i := strings.Index(frame.File, "In["); i >= 0 && strings.HasPrefix(frame.Function, wire.CellPath) {
			name := frame.Function[strings.Index(frame.Function, ".")+1:]
			lines = append(lines, fmt.Sprintf("%s:%d %s", frame.File[i:], frame.Line, name))
		}
		if !more {
			return lines
		}
	}
}

// grace is how long a cell that was stopped may take to end by itself.
const grace = 300 * time.Millisecond

// lingering is how long goroutines of a stopped cell are still looked for after its own has ended.
const lingering = 5 * time.Second

// Begin makes a cell known, so that it can be stopped from now on, also while it is loaded. What it returns runs the cell.
func Begin(id int) (execute func(run func()) *wire.Failure) {
	e := &execution{id: id}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	mu.Lock()
	defer mu.Unlock()
	running[id] = e
	return e.execute
}

// execute runs a cell in a goroutine of its own. A cell that was stopped and does not end is left behind: it ends at its
// next check.
func (e *execution) execute(run func()) (end *wire.Failure) {
	id := e.id
	defer e.cancel()
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		delete(running, id)
		if e.failed != nil && (end == nil || end.Name == "stopped") {
			end = e.failed
		}
	}()
	if e.ctx.Err() != nil {
		forget(id)
		return &wire.Failure{Name: "stopped"}
	}
	done := make(chan *wire.Failure, 1)
	go func() {
		var end *wire.Failure
		defer func() {
			if p := recover(); p != nil && p != exit(0) {
				end = failureOf(p)
			}
			done <- end
		}()
		run()
	}()
	select {
	case end = <-done:
	case <-e.ctx.Done():
		select {
		case end = <-done:
			time.AfterFunc(lingering, func() { forget(id) })
		case <-time.After(grace):
			go func() { <-done; forget(id) }()
		}
		if end == nil {
			end = &wire.Failure{Name: "stopped"}
		}
	}
	return end
}

// Stop stops a cell.
func Stop(id int) {
	mu.Lock()
	defer mu.Unlock()
	if e, ok := running[id]; ok {
		stopped[id] = true
		stopping.Store(true)
		e.cancel()
	}
}

// forget ends the search for goroutines of a cell.
func forget(id int) {
	mu.Lock()
	defer mu.Unlock()
	delete(stopped, id)
	stopping.Store(len(stopped) > 0)
}

// Package rt is what the cells of a notebook call in the process in which all of them run. Besides them, only that process's
// program uses it.
package rt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// execution is a cell that runs, or was stopped and may have left goroutines behind.
type execution struct {
	run     func()
	ctx     context.Context
	cancel  context.CancelFunc
	failure string // of the first of its goroutines that failed
}

var (
	mu      sync.Mutex
	running = map[int]*execution{}
	stopped atomic.Int32 // how many of them were stopped
)

// Panics of a goroutine whose cell was stopped, or ends itself, and that of an error that a cell did not expect.
var errStopped, errDone = errors.New("stopped"), errors.New("done")

type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Check ends the goroutine if its cell was stopped. Loops and functions of cells begin with it.
func Check() {
	if stopped.Load() > 0 {
		checkSlowly()
	}
}

func checkSlowly() {
	if e := find(owner()); e != nil && e.ctx.Err() != nil {
		panic(errStopped)
	}
}

func find(id int) *execution {
	mu.Lock()
	defer mu.Unlock()
	return running[id]
}

// Context is the context of the goroutine's cell, which ends when the cell is stopped.
func Context() context.Context {
	if e := find(owner()); e != nil {
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

// Exit stands for os.Exit: it ends the cell.
func Exit(code int) {
	if code != 0 {
		NoError(fmt.Errorf("exit status %d", code))
	}
	panic(errDone)
}

// These stand for functions of package log, which would end the program of all cells.
var Fatal, Fatalln, Fatalf = log.Panic, log.Panicln, log.Panicf

// failureOf describes a panic that is one of the cell's, with the lines of cells on the way to it. It is called by the deferred
// function that has recovered it.
func failureOf(p any) string {
	text := fmt.Sprint(p)
	switch _, unexpected := p.(failure); {
	case p == nil, p == errStopped, p == errDone:
		return ""
	case !unexpected:
		text = "panic: " + text
	}
	lines := trace()
	if len(lines) == 0 {
		return text
	}
	at, _, _ := strings.Cut(lines[0], " ")
	lines[0] = at + ": " + text
	return strings.Join(lines, "\n\tcalled at ")
}

// grace is how long a cell that was stopped may take to end by itself.
const grace = 300 * time.Millisecond

// lingering is how long goroutines of a stopped cell are still looked for after its own has ended.
const lingering = 5 * time.Second

// Load makes a cell known, so that it can be stopped.
func Load(id int, run func()) {
	e := &execution{run: run}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	mu.Lock()
	defer mu.Unlock()
	running[id] = e
}

// Run runs a cell that was loaded, in a goroutine of its own, and says why it failed. A cell that was stopped and does not end is
// left behind: it ends at its next check.
func Run(id int) (failure string) {
	e, ended := find(id), make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { e.fail(failureOf(recover())) }()
		e.run()
	}()
	select {
	case <-ended:
	case <-e.ctx.Done():
		select {
		case <-ended:
		case <-time.After(grace):
		}
	}
	return e.end(id, ended)
}

// end ends a cell whose goroutine has ended, or is to.
func (e *execution) end(id int, ended chan struct{}) (failure string) {
	mu.Lock()
	defer mu.Unlock()
	if e.ctx.Err() == nil {
		e.cancel()
		delete(running, id)
		return e.failure
	}
	go func() {
		<-ended
		time.Sleep(lingering)
		mu.Lock()
		defer mu.Unlock()
		delete(running, id)
		stopped.Add(-1)
	}()
	return cmp.Or(e.failure, wire.Stopped)
}

func (e *execution) fail(f string) {
	mu.Lock()
	defer mu.Unlock()
	e.failure = cmp.Or(e.failure, f)
}

// Stop stops a cell.
func Stop(id int) {
	if e := find(id); e != nil {
		e.stop()
	}
}

func (e *execution) stop() {
	mu.Lock()
	defer mu.Unlock()
	if e.ctx.Err() == nil {
		e.cancel()
		stopped.Add(1)
	}
}

// recovered takes the panic of a goroutine and ends its cell with it.
func recovered(id int) {
	p := recover()
	if p == nil {
		return
	}
	f := failureOf(p)
	if e := find(id); e != nil {
		e.fail(f)
		e.stop()
	} else if f != "" {
		fmt.Fprintln(os.Stderr, "A goroutine of an earlier cell has ended: "+f)
	}
}

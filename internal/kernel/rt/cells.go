// Package rt is what the cells of a notebook call in the process in which all of them run. Besides them, only that process's
// program uses it.
package rt

import (
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
	run  func()
	ctx  context.Context
	stop context.CancelCauseFunc // stops it, with why it failed
}

var (
	running sync.Map     // executions by ID
	stopped atomic.Int32 // how many of them were stopped
)

// Panics of a goroutine whose cell was stopped, or ends itself, and that of an error that a cell did not expect.
var errStopped, errDone = errors.New(wire.Stopped), errors.New("done")

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
	e, _ := running.Load(id)
	found, _ := e.(*execution)
	return found
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
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	running.Store(id, e)
}

// Run runs a cell that was loaded, in a goroutine of its own, and says why it failed. A cell that was stopped and does not end is
// left behind: it ends at its next check.
func Run(id int) string {
	e, ended, failure := find(id), make(chan struct{}), ""
	go func() {
		defer close(ended)
		defer func() { failure = failureOf(recover()) }()
		e.run()
	}()
	linger := context.AfterFunc(e.ctx, func() {
		stopped.Add(1)
		<-ended
		time.Sleep(lingering)
		running.Delete(id)
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
	if e.ctx.Err() == nil && linger() { // it was not stopped: what it has started goes on
		running.Delete(id)
		e.stop(nil)
		return failure
	}
	return context.Cause(e.ctx).Error()
}

// Stop stops a cell.
func Stop(id int) {
	if e := find(id); e != nil {
		e.stop(errStopped)
	}
}

// recovered takes the panic of a goroutine and stops its cell for it.
func recovered(id int) {
	p := recover()
	if p == nil {
		return
	}
	why := errStopped
	if f := failureOf(p); f != "" {
		why = errors.New(f)
	}
	if e := find(id); e != nil {
		e.stop(why)
	} else if why != errStopped {
		fmt.Fprintln(os.Stderr, "A goroutine of an earlier cell has ended:", why)
	}
}

package rt

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var (
	ordered atomic.Int64
	answers sync.Map // channels, by the numbers of commands
)

// Command has the kernel do a command of the cell, and waits until it is done. Its error ends the
// cell.
func Command(text string) {
	n, done := int(ordered.Add(1)), make(chan string, 1)
	answers.Store(n, done)
	defer answers.Delete(n)
	Order(n, text)
	select {
	case problem := <-done:
		if problem != "" {
			NoError(errors.New(problem))
		}
	case <-Context(0).Done():
		panic(errStopped)
	}
}

// Answer says that a command is done, and what has gone wrong.
func Answer(n int, problem string) {
	if done, ok := answers.Load(n); ok {
		done.(chan string) <- problem
	}
}

// Clock begins to measure. lap says what has been spent since.
func Clock() (lap func()) {
	begun := time.Now()
	user, system := Spent()
	return func() {
		wall := time.Since(begun)
		u, s := Spent()
		round := func(d time.Duration) time.Duration { return d.Round(max(d/1000, time.Microsecond)) }
		fmt.Printf("wall %v, processor %v (user %v, system %v)\n", round(wall), round(u-user+s-system), round(u-user),
			round(s-system))
	}
}

var laps sync.Map // of statements that are measured, by the labels of their goroutines

// Begin begins to measure a statement.
func Begin() { laps.Store(label(), Clock()) }

// Lap says what has been spent since [Begin], unless it was said already.
func Lap() {
	if lap, ok := laps.LoadAndDelete(label()); ok {
		lap.(func())()
	}
}

// Timed is a list of values, whose making is measured.
func Timed(list ...any) []any {
	Lap()
	return list
}

// Keep is where values go that are not shown, so that the compiler does not leave out what makes
// them.
//
//go:noinline
func Keep(...any) {}

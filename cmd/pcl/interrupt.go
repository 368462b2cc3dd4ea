package main

import (
	"context"
	"io"
	"time"
)

// grace is how long a command that has nothing to save is given to end by itself after an interrupt.
const grace = time.Second

// hold makes an interrupt wait until release is called: something is being saved or brought to its end, such as
// a run's step and its checkpoint.
func (rc *runContext) hold() (release func()) {
	rc.held.Add(1)
	return func() { rc.held.Add(-1) }
}

// attend runs a command. When an interrupt comes, the command is left alone as long as it holds something, and a
// moment more; then it is left behind, for the program to end.
func (rc *runContext) attend(command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-rc.ctx.Done():
	}
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(grace):
			if rc.held.Load() == 0 {
				return rc.ctx.Err()
			}
		}
	}
}

// input is the standard input, which an interrupt ends with an error though nothing was written to it.
func (rc *runContext) input() io.Reader {
	from, to := io.Pipe()
	context.AfterFunc(rc.ctx, func() { to.CloseWithError(rc.ctx.Err()) })
	go func() {
		_, err := io.Copy(to, rc.stdin)
		to.CloseWithError(err)
	}()
	return from
}

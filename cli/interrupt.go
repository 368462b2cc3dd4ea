package cli

import (
	"context"
	"io"
	"time"
)

// grace is how long a command with nothing to save may take to end by itself after an interrupt.
const grace = time.Second

// hold makes an interrupt wait until release is called, because something has to be finished or
// saved first, such as the current step of a run and its checkpoint.
func (rc *runContext) hold() (release func()) {
	rc.held.Add(1)
	return func() { rc.held.Add(-1) }
}

// attend runs a command. After an interrupt it waits as long as the command holds something (see
// hold), and a moment longer for it to end by itself. Then it returns although the command is still
// running, so that the program can end.
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

// input returns the standard input. An interrupt makes reading from it fail, even while it waits
// for input.
func (rc *runContext) input() io.Reader {
	from, to := io.Pipe()
	context.AfterFunc(rc.ctx, func() { to.CloseWithError(rc.ctx.Err()) })
	go func() {
		_, err := io.Copy(to, rc.stdin)
		to.CloseWithError(err)
	}()
	return from
}

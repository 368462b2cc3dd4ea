package serve

import (
	"context"
	"io"
)

// slots bound how many requests do something at the same time.
type slots chan struct{}

// do calls f when there is a slot, unless ctx ends before.
func (s slots) do(ctx context.Context, f func() error) error {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s }()
	return f()
}

// decode calls f with a reader of the body. Other requests are decoded while this one waits for its client, so that a
// client that stalls does not hold them up.
func (s slots) decode(body io.Reader, f func(io.Reader) error) error {
	s <- struct{}{}
	defer func() { <-s }()
	return f(slotReader{body, s})
}

type slotReader struct {
	body  io.Reader
	slots slots
}

func (r slotReader) Read(p []byte) (int, error) {
	<-r.slots
	defer func() { r.slots <- struct{}{} }()
	return r.body.Read(p)
}

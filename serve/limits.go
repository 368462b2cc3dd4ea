package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// errRoom is the answer to a request for which the service has no room.
var errRoom = errors.New("the requests in progress take all memory that they may (Options.MaxBuffered): send fewer at once, or try again")

// freeRoom is how many bytes each request may take without being counted, so that small ones are served also while large
// ones take all there is. The number of connections bounds it.
const freeRoom = 16 << 10

// room is what a request takes of the memory that all requests in progress may take.
type room struct {
	service *Service
	taken   int
}

// hold makes the request take so many bytes in place of those that it had. It returns errRoom, and changes nothing, if all
// requests would then take more than most.
func (r *room) hold(bytes, most int) error {
	more := int64(max(0, bytes-freeRoom) - max(0, r.taken-freeRoom))
	if r.service.buffered.Add(more) > int64(most) && more > 0 {
		r.service.buffered.Add(-more)
		return errRoom
	}
	r.taken = bytes
	return nil
}

// take takes more bytes; below 0 it gives bytes back.
func (r *room) take(bytes int) error {
	return r.hold(r.taken+bytes, r.service.options.MaxBuffered)
}

// leave gives back what the request has.
func (r *room) leave() { _ = r.hold(0, 0) }

// slots bound how many requests compute at the same time. None is held while a client sends or receives.
type slots chan struct{}

// do calls f when there is a slot, unless ctx ends before.
func (s slots) do(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil { // select would choose at random
		return err
	}
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s }()
	return f()
}

// maxBody is how many bytes a request with samples may have, and maxSmall another one.
const maxBody, maxSmall = 64 << 20, 4 << 20

// body reads the body of a request, of up to most bytes, into memory that is counted as it fills. Bodies may take half of
// the memory for requests, so that clients that stall leave the other half.
func (s *Service) body(w http.ResponseWriter, q *http.Request, r *room, most int64) (body []byte, err error) {
	if q.ContentLength > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	in, control, end := http.MaxBytesReader(w, q.Body, most), http.NewResponseController(w), time.Now().Add(s.patience)
	for err == nil {
		if len(body) == cap(body) {
			grown := max(4<<10, 2*cap(body))
			if err := r.hold(cap(body)+grown, s.options.MaxBuffered/2); err != nil { // while it is copied, both are there
				return nil, err
			}
			body = append(make([]byte, 0, grown), body...)
			_ = r.hold(grown, s.options.MaxBuffered/2)
		}
		// Servers without such a deadline need not be able to set one.
		_ = control.SetReadDeadline(time.Now().Add(min(s.stall, time.Until(end))))
		var n int
		n, err = in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errSlow
	case err != io.EOF:
		return nil, err
	}
	// A request that has arrived may wait. The deadline still holds for the rest of one that is refused.
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}

package serve

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

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

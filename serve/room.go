package serve

import (
	"errors"
	"io"
	"math"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// room is the memory that the texts of requests in progress, and of their answers, may take
// together. They take it as they grow: what a client announces counts for nothing. The first bytes
// of each come from a quarter that long ones cannot take.
type room struct {
	long, short *semaphore.Weighted
	first       int
}

// firstBytes is how much of a text comes from the quarter for short ones: of 256 MiB, for 2048
// texts.
const firstBytes = 32 << 10

func newRoom(most int) *room {
	quarter := most / 4
	return &room{semaphore.NewWeighted(int64(most - quarter)), semaphore.NewWeighted(int64(quarter)),
		min(firstBytes, max(1, quarter/8))}
}

// share is what a text has of the room.
type share struct {
	*room
	long, short int64
	first       int // how much of it comes from the quarter for short ones
}

// share begins a text. One that is short, whatever its length, counts as such throughout.
func (r *room) share(short bool) *share {
	if short {
		return &share{room: r, first: math.MaxInt}
	}
	return &share{room: r, first: r.first}
}

// grow takes room for a text that is to have more bytes.
func (s *share) grow(size int) error {
	short := int64(min(size, s.first))
	long := int64(size) - short
	if !s.room.short.TryAcquire(short - s.short) {
		return errRoom
	}
	s.short = short
	if !s.room.long.TryAcquire(long - s.long) {
		return errRoom
	}
	s.long = long
	return nil
}

// free gives back what a text has taken.
func (s *share) free() {
	s.room.short.Release(s.short)
	s.room.long.Release(s.long)
	s.short, s.long = 0, 0
}

var errRoom = statusError{errors.New("the requests in progress take all memory that they may (Options.MaxBuffered): " +
	"send fewer at once, or try again"), http.StatusServiceUnavailable}

// A client that stalls is not waited for: it may pause for five seconds, and in all take these and
// one more for each 4 KiB that it has sent or received, up to a minute.
const (
	patience = time.Minute
	stall    = 5 * time.Second
	pace     = 4 << 10 // bytes a second
)

// deadline is until when a client that has sent or received some bytes must go on.
func (s *Service) deadline(began time.Time, bytes int) time.Time {
	return began.Add(min(patience, s.stall+time.Duration(bytes)*(time.Second/pace), time.Since(began)+s.stall))
}

// read reads a body of up to so many bytes, and takes room for it as it arrives.
func (s *Service) read(w http.ResponseWriter, q *http.Request, most int64, taken *share) ([]byte, error) {
	if q.ContentLength > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	bound := most + 1 // a byte more than the body, where its end is found
	if q.ContentLength >= 0 {
		bound = q.ContentLength + 1
	}
	var body []byte
	in, control, began := http.MaxBytesReader(w, q.Body, most), http.NewResponseController(w), time.Now()
	defer control.SetReadDeadline(time.Time{}) // a request that has arrived may wait
	for {
		if len(body) == cap(body) {
			size := int(min(bound, max(4<<10, 2*int64(cap(body)))))
			if err := taken.grow(size); err != nil {
				return nil, err
			}
			body = append(make([]byte, 0, size), body...)
		}
		_ = control.SetReadDeadline(s.deadline(began, len(body)))
		n, err := in.Read(body[len(body):cap(body)])
		if body = body[:len(body)+n]; err == io.EOF {
			return body, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// write sends a text to a client, which may have gone or not read on.
func (s *Service) write(w http.ResponseWriter, text []byte) {
	control, began := http.NewResponseController(w), time.Now()
	for from := 0; from < len(text); from += firstBytes {
		_ = control.SetWriteDeadline(s.deadline(began, from))
		if _, err := w.Write(text[from:min(from+firstBytes, len(text))]); err != nil {
			return
		}
	}
}

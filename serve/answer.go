package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

// errEnding is the answer to a request that arrives while the service shuts down.
var errEnding = errors.New("the service is ending: try again when it runs")

// errSlow is the answer to a request that has not arrived in time.
var errSlow = errors.New("the request did not arrive in time: send it faster, or in several parts")

// internalError is an error that is no fault of the request.
type internalError struct{ error }

func (e internalError) Unwrap() error { return e.error }

// statusOf returns the status code of the answer to a request that failed.
func statusOf(err error) int {
	var large *http.MaxBytesError
	var internal internalError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errSlow):
		return http.StatusRequestTimeout
	case errors.Is(err, errRoom), errors.Is(err, errEnding), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, pcl.ErrClosed):
		return http.StatusServiceUnavailable
	case errors.As(err, &internal):
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// taken says how many samples were taken. It is in the answer also when the others were not.
type taken struct {
	Taken int `json:"taken"`
}

// answer answers a request: with a file as it is, with anything else as JSON. All of it is in memory, and counted, before the
// first byte is sent, and it does not wait for a client that does not read.
func (s *Service) answer(ctx context.Context, w http.ResponseWriter, r *room, out any, err error) {
	var text []byte
	if err == nil {
		text, err = s.encoded(ctx, r, out)
	}
	status := http.StatusOK
	if err != nil {
		failed := map[string]any{"error": err.Error()}
		if t, ok := out.(taken); ok {
			failed["taken"] = t.Taken
		}
		text, _ = json.Marshal(failed)
		status, out = statusOf(err), nil
	}
	kind := "application/json"
	if _, ok := out.([]byte); ok {
		kind = "application/octet-stream"
	} else {
		text = append(text, '\n')
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience))
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // to a client that may have gone
}

// encoded returns the text of an answer, which then is all that the request takes.
func (s *Service) encoded(ctx context.Context, r *room, out any) (text []byte, err error) {
	if file, ok := out.([]byte); ok {
		return file, r.hold(len(file), s.options.MaxBuffered)
	}
	err = s.working.do(ctx, func() (err error) {
		text, err = json.Marshal(out)
		return errors.Join(err, r.hold(len(text), s.options.MaxBuffered))
	})
	return text, err
}

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

// errEnding is the answer to who comes when the service ends.
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
	case errors.Is(err, errRoom), errors.Is(err, errEnding), errors.Is(err, context.Canceled), errors.Is(err, pcl.ErrClosed):
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

// answer answers a request. It may have waited for long, but its answer does not wait for a client that does not read.
func (s *Service) answer(w http.ResponseWriter, out any, err error) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience))
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(statusOf(err))
		failed := map[string]any{"error": err.Error()}
		if t, ok := out.(taken); ok {
			failed["taken"] = t.Taken
		}
		out = failed
	}
	json.NewEncoder(w).Encode(out)
}

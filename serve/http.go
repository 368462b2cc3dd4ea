package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/pcl"
)

// maxBody is how many bytes a request with samples may have, and maxSmall another one.
const maxBody, maxSmall = 64 << 20, 4 << 20

// Handler answers
//
//	POST /tasks    {"name": "digits", "classes": [0, 1]}    a task begins; the answer has its id. "names" may name the classes
//	POST /learn    {"task": 1, "x": [[…]], "classes": [0]}  samples to learn from; waits while there is no room
//	POST /end      {"task": 1}                              the task ends when its samples have been trained on
//	POST /predict  {"x": [[…]]}                             for each sample its class, all classes, their probabilities
//	POST /pause    {"task": 1}                              the task takes no part in training, until POST /resume
//	POST /detach   {"task": 1, "keep": true}                the task ends at once, and drops samples that wait
//	POST /reattach {"task": 1}                              a task that has ended begins again
//
//	GET  /tasks                                             the tasks that are kept, and how many samples of each are saved
//	GET  /network                                           the trained network, as a safetensors file
//	GET  /network.onnx                                      the same as an ONNX file
//	GET  /                                                  a page about the service, for people
//	GET  /livez                                             that the service is there
//	GET  /readyz                                            whether predictions are answered, and what is not ready yet
//	GET  /metrics                                           what Prometheus collects
//
// POST /learn?task=1&classes=0,1 and POST /predict also take samples as a body of float32 values,
// little-endian, of the type application/octet-stream, or as a JPEG or PNG picture of the type
// image/jpeg or image/png; a form of the type multipart/form-data has several pictures.
//
// docs/service.md says what each does, and how requests that fail are answered. It is [Service.Run]
// that trains.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(scope Scope, pattern string, h http.HandlerFunc) {
		mux.HandleFunc(pattern, s.metrics.timed(pattern, s.may(scope, h)))
	}
	onnx := func(t *pcl.Network, to io.Writer) error { return t.WriteONNX(to, s.learner.Options().Model) }
	handle(ScopeRead, "GET /{$}", s.get(true, s.home))
	handle(ScopeRead, "GET /tasks", s.get(true, s.list))
	handle(ScopeRead, "GET /network", s.get(false, s.network((*pcl.Network).Write)))
	handle(ScopeRead, "GET /network.onnx", s.get(false, s.network(onnx)))
	handle(ScopeRead, "POST /predict", route(s, maxBody, s.predict))
	handle(ScopeLearn, "POST /tasks", route(s, maxSmall, s.begin))
	handle(ScopeLearn, "POST /learn", route(s, maxBody, s.learn))
	handle(ScopeLearn, "POST /end", route(s, maxSmall, s.end()))
	handle(ScopeAdmin, "POST /detach", route(s, maxSmall, s.detach))
	handle(ScopeAdmin, "POST /reattach", route(s, maxSmall, s.reattach))
	handle(ScopeAdmin, "POST /pause", route(s, maxSmall, s.pause()))
	handle(ScopeAdmin, "POST /resume", route(s, maxSmall, s.resume()))
	// Those who look after the service need no token.
	mux.HandleFunc("GET /livez", s.get(true, s.livez))
	mux.HandleFunc("GET /readyz", s.get(true, s.readyz))
	mux.Handle("GET /metrics", s.metrics.handler())
	return s.guard(mux)
}

// get answers a request without a body with what f returns, which may be short.
func (s *Service) get(short bool, f func(context.Context) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		out, err := f(q.Context())
		s.answer(w, short, out, err)
	}
}

// route reads a request whole, as JSON, and answers it with what f returns. Requests are counted by
// their bytes until they are answered.
func route[Q any](s *Service, most int64, f func(context.Context, Q) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		ctx, cancel := context.WithCancel(q.Context())
		defer cancel()
		defer context.AfterFunc(s.ending, cancel)()
		taken := s.room.share(false)
		defer taken.free()
		var in Q
		var out any
		err := s.parse(w, q, most, taken, &in)
		if err == nil {
			out, err = f(ctx, in)
		}
		s.answer(w, false, out, err)
	}
}

// parse reads the body of a request into v.
func (s *Service) parse(w http.ResponseWriter, q *http.Request, most int64, taken *share, v any) error {
	if e := q.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		w.Header().Set("Accept-Encoding", "identity")
		return statusError{fmt.Errorf("the encoding %.40q is not read: send the JSON as it is, without Content-Encoding", e),
			http.StatusUnsupportedMediaType}
	}
	body, err := s.read(w, q, most, taken)
	if err != nil {
		w.Header().Set("Connection", "close") // the rest of it is not waited for
		return err
	}
	kind := q.Header.Get("Content-Type")
	if v, ok := v.(withSamples); ok && (kind == "application/octet-stream" || isPictures(kind)) {
		return s.parseSamples(q, body, taken, v)
	}
	err = jsonin.Unmarshal(body, v)
	if err != nil && (strings.HasPrefix(kind, "multipart/") ||
		strings.HasPrefix(kind, "application/x-www-form-urlencoded") &&
			!bytes.HasPrefix(bytes.TrimSpace(body), []byte("{"))) {
		return errors.New("this is a form: send JSON, as curl -d '{\"task\": 1}' does")
	}
	return err
}

// answer sends a file as it is, and anything else as JSON. It counts until a client has read it.
func (s *Service) answer(w http.ResponseWriter, short bool, out any, err error) {
	kind := "application/octet-stream"
	text, isFile := out.([]byte)
	if html, ok := out.(page); ok {
		kind, text, isFile = "text/html; charset=utf-8", html, true
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	}
	if !isFile && err == nil {
		kind = "application/json"
		text, err = json.Marshal(out)
		text = append(text, '\n')
	}
	taken := s.room.share(short)
	defer taken.free()
	if err == nil {
		err = taken.grow(len(text))
	}
	status := http.StatusOK
	if own, ok := out.(interface{ status() int }); ok {
		status = own.status()
	}
	if err != nil {
		failed := map[string]any{"error": printable.Cut(err.Error(), mostSaid)}
		if p := new(partly); errors.As(err, p) {
			failed["taken"] = p.taken
		}
		text, _ = json.Marshal(failed)
		kind, text, status = "application/json", append(text, '\n'), statusOf(err)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	s.write(w, text)
}

// mostSaid is how many bytes the message of an error has.
const mostSaid = 1000

// statusError is an error with the status code of its answer.
type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

var errEnding = statusError{errors.New("the service is ending: try again when it runs"), http.StatusServiceUnavailable}

// ours is an error that is not a fault of the request.
func ours(err error) error {
	if err == nil {
		return nil
	}
	return statusError{err, http.StatusInternalServerError}
}

// statusOf returns the status code of the answer to a request that failed.
func statusOf(err error) int {
	var e statusError
	switch {
	case errors.As(err, &e):
		return e.status
	case errors.As(err, new(*http.MaxBytesError)):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, pcl.ErrClosed):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// onTask is a request about a task.
type onTask struct {
	Task int `json:"task"`
}

// changing keeps the service from being saved for the last time until what it returns is called:
// what was changed after that would be lost. It fails if the service is ending.
func (s *Service) changing(ctx context.Context) (done func(), err error) {
	if err := s.awaitWhole(ctx); err != nil {
		return nil, err
	}
	s.saving.RLock()
	if ctx.Err() != nil || s.ending.Err() != nil {
		s.saving.RUnlock()
		return nil, errEnding
	}
	return s.saving.RUnlock, nil
}

// livez answers as long as the service is there.
func (s *Service) livez(context.Context) (any, error) { return map[string]bool{"live": true}, nil }

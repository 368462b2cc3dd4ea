package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

// maxBody is how many bytes a request may have.
const maxBody = 64 << 20

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
//	GET  /tasks                                             the tasks that have arrived
//	GET  /network                                           the trained network, as a safetensors file
//	GET  /network.onnx                                      the same as an ONNX file
//
// With "keep", which is true if it is not there, some of the samples that a detached task was trained on enter the memory.
// With "task", /predict chooses among the classes of that task. A request that fails is answered with {"error": "…"}, for
// /learn also with "taken", how many of the samples were taken. The status is 400 for a bad request, 408 for one that
// arrives too slowly, 413 for one of more than 64 MiB, 503 when the service is ending or has too many samples of requests
// at once, and 500 when it is the service's fault. It is [Service.Run] that trains.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tasks", func(w http.ResponseWriter, _ *http.Request) { s.answer(w, s.described(s.learner.Tasks()), nil) })
	for path, f := range map[string]func(context.Context, reading) (any, error){
		"/tasks": s.begin, "/learn": s.learn, "/end": s.end, "/predict": s.predict,
		"/pause": s.pause, "/resume": s.resume, "/detach": s.detach, "/reattach": s.reattach,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, q *http.Request) {
			out, err := f(q.Context(), s.reading(w, q))
			s.answer(w, out, err)
		})
	}
	mux.HandleFunc("GET /network", s.network(func(t *pcl.Trained, _ pcl.Options, w io.Writer) error { return t.Write(w) }))
	mux.HandleFunc("GET /network.onnx", s.network(func(t *pcl.Trained, o pcl.Options, w io.Writer) error { return t.WriteONNX(w, o.Model) }))
	guarded := s.guard(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// For what is answered in plain text; other answers set a time of their own when they begin.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience))
		ctx, cancel := context.WithCancel(q.Context())
		defer cancel()
		defer context.AfterFunc(s.ending, cancel)()
		guarded.ServeHTTP(w, q.WithContext(ctx))
	})
}

// reading reads a request that has these fields.
type reading func(fields) error

func (s *Service) reading(w http.ResponseWriter, q *http.Request) reading {
	return func(f fields) error {
		if q.ContentLength > maxBody {
			return &http.MaxBytesError{Limit: maxBody}
		}
		err := s.decoding.decode(http.MaxBytesReader(w, q.Body, maxBody), func(body io.Reader) error { return f.read(body) })
		switch {
		case err == nil:
			// The time in which a request must arrive does not hold for one that then waits for room. Servers without
			// such a time need not be able to take it back. It still holds for the rest of one that is refused.
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = errSlow
		}
		return err
	}
}

// changing calls f, which changes what is saved, unless the service is ending: what came after the last save would be lost.
func (s *Service) changing(ctx context.Context, f func() error) error {
	s.file.saving.RLock()
	defer s.file.saving.RUnlock()
	if ctx.Err() != nil || s.ending.Err() != nil {
		return errEnding
	}
	defer s.file.changed.Store(true)
	return f()
}

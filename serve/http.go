package serve

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

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
//
// With "keep", which is true if it is not there, some of the samples that a detached task was trained on enter the memory.
// With "task", /predict chooses among the classes of that task. A request that fails is answered with {"error": "…"}, for
// /learn also with "taken", how many of the samples were taken. The status is 400 for a bad request, 408 for one that
// arrives too slowly, 413 for one of more than 64 MiB (4 MiB without samples), 503 when the service is ending, requests take too
// much memory, or there is no room for samples for a minute, and 500 when it is the service's fault. It is [Service.Run] that
// trains.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	onnx := func(t *pcl.Trained, to io.Writer) error { return t.WriteONNX(to, s.learner.Options().Model) }
	for path, f := range map[string]func(context.Context, *arrived) (any, error){
		"GET /tasks": s.list, "GET /network": s.network((*pcl.Trained).Write), "GET /network.onnx": s.network(onnx),
		"POST /tasks": s.begin, "POST /detach": s.detach, "POST /reattach": s.onTask(s.reattach), "POST /end": s.onTask(s.end),
		"POST /pause": s.onTask(s.learner.Pause), "POST /resume": s.onTask(s.learner.Resume),
	} {
		mux.HandleFunc(path, s.route(maxSmall, f))
	}
	mux.HandleFunc("POST /learn", s.route(maxBody, s.learn))
	mux.HandleFunc("POST /predict", s.route(maxBody, s.predict))
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

// route reads a request whole, and answers it with what f returns.
func (s *Service) route(most int64, f func(context.Context, *arrived) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		r := &room{service: s}
		defer r.leave()
		var out any
		body, err := s.body(w, q, r, most)
		if err == nil {
			out, err = f(q.Context(), &arrived{s, r, body})
		}
		s.answer(q.Context(), w, r, out, err)
	}
}

// changing calls f, which changes what is saved, unless the service is ending: what came after the last save would be lost.
func (s *Service) changing(ctx context.Context, f func() error) error {
	s.file.saving.RLock()
	defer s.file.saving.RUnlock()
	if ctx.Err() != nil || s.ending.Err() != nil {
		return errEnding
	}
	return f()
}

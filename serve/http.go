package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// maxBody is how many bytes a request may have.
const maxBody = 64 << 20

// Handler answers
//
//	POST /tasks    {"name": "digits", "classes": [0, 1]}    a task begins; the answer has its id. "names" may name the classes
//	POST /learn    {"task": 1, "x": [[…]], "classes": [0]}  samples to learn from; waits while there is no room
//	POST /end      {"task": 1}                              the task ends when its samples have been trained on
//	POST /predict  {"x": [[…]]}                             for each sample its class, all classes, their probabilities
//
//	GET  /tasks                                             the tasks that have arrived
//
// With "task", /predict chooses among the classes of that task. A request that fails is answered with {"error": "…"}, for
// /learn also with "taken", how many of the samples were taken. The status is 400 for a bad request, 408 for one that
// arrives too slowly, 413 for one of more than 64 MiB, 503 when the service is ending, and 500 when it is the service's
// fault. It is [Service.Run] that trains.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tasks", func(w http.ResponseWriter, _ *http.Request) { s.answer(w, s.described(s.learner.Tasks()), nil) })
	for path, f := range map[string]func(context.Context, reading) (any, error){
		"/tasks": s.begin, "/learn": s.learn, "/end": s.end, "/predict": s.predict,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, q *http.Request) {
			out, err := f(q.Context(), s.reading(w, q))
			s.answer(w, out, err)
		})
	}
	// A page that somebody has open in a browser could otherwise train a service on the same machine: it may send requests
	// to any address, though it does not see the answers.
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// What is left of the request before, on the same connection, does not hold for this one; see answer.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
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
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = errSlow
		}
		// The time in which a request must arrive does not hold for one that then waits for room. Servers without such
		// a time need not be able to take it back.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
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

// prediction is a [pcl.Prediction] with the names that its fields have in JSON.
type prediction struct {
	Class         int       `json:"class"`
	Name          string    `json:"name,omitempty"`
	Classes       []int     `json:"classes"`
	Probabilities []float64 `json:"probabilities"`
}

// samples returns where the samples of a request go.
func (s *Service) samples() *samples { return &samples{width: s.learner.Options().Model.Inputs()} }

func (s *Service) begin(ctx context.Context, read reading) (any, error) {
	var name string
	var classes []int
	var names []string
	if err := read(fields{"name": &name, "classes": &classes, "names": &names}); err != nil {
		return nil, err
	}
	var id int
	err := s.changing(ctx, func() (err error) {
		id, err = s.attach(name, classes, names)
		return err
	})
	return map[string]int{"id": id}, err
}

// attach begins a task. Predictions know its classes from then on.
func (s *Service) attach(name string, classes []int, names []string) (id int, err error) {
	if err := s.admit(classes); err != nil {
		return 0, err
	}
	task, err := s.newTask(name, classes, names)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	id, err = s.learner.Attach(task)
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	s.streams.Store(id, task.Stream)
	if err := s.renew(); err != nil {
		return id, internalError{fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err)}
	}
	return id, nil
}

func (s *Service) learn(ctx context.Context, read reading) (any, error) {
	var task int
	var classes []int
	var done taken
	x := s.samples()
	if err := read(fields{"task": &task, "x": x, "classes": &classes}); err != nil {
		return done, err
	}
	stream, err := s.stream(task)
	if err != nil {
		return done, err
	}
	err = s.changing(ctx, func() (err error) {
		done.Taken, err = stream.Push(ctx, x.values, classes...)
		return err
	})
	if errors.Is(err, data.ErrEnded) {
		err = fmt.Errorf("task %d was ended, and takes no more samples", task)
	}
	return done, err
}

func (s *Service) end(ctx context.Context, read reading) (any, error) {
	var task int
	if err := read(fields{"task": &task}); err != nil {
		return nil, err
	}
	stream, err := s.stream(task)
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.changing(ctx, func() error { stream.End(); return nil })
}

func (s *Service) predict(ctx context.Context, read reading) (any, error) {
	var task *int // nil if none is given
	x := s.samples()
	if err := read(fields{"task": &task, "x": x}); err != nil {
		return nil, err
	}
	p := s.predictor.Load()
	return predictions(ctx, x, func(values []float32) ([]pcl.Prediction, error) {
		if task == nil {
			return p.Predict(values)
		}
		return p.PredictTask(*task, values)
	})
}

// atOnce is how many samples are predicted before it is looked whether the client is still there, and maxProbabilities how many
// probabilities an answer has at most, since a small request may have a large one.
const atOnce, maxProbabilities = 1024, 4 << 20

func predictions(ctx context.Context, x *samples, of func(values []float32) ([]pcl.Prediction, error)) ([]prediction, error) {
	out := make([]prediction, 0, x.n)
	for from := 0; from == 0 || from < x.n; from += atOnce {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := of(x.values[from*x.width : min(from+atOnce, x.n)*x.width])
		if err != nil {
			return nil, err
		}
		for _, p := range some {
			out = append(out, prediction(p))
		}
		if x.n == 0 {
			break
		}
		if classes := len(out[0].Probabilities); x.n > maxProbabilities/classes {
			return nil, fmt.Errorf("%d samples of %d classes: an answer has at most %d probabilities; send several requests", x.n, classes, maxProbabilities)
		}
	}
	return out, nil
}

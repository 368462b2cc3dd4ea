package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// request is the JSON of all requests. X has the samples, and Classes their classes; for a new task, those that it has, of
// which Names may be the names.
type request struct {
	Name    string      `json:"name"`
	Task    int         `json:"task"`
	Classes []int       `json:"classes"`
	Names   []string    `json:"names"`
	X       [][]float32 `json:"x"`
}

// Handler answers
//
//	POST /tasks    {"name": "digits", "classes": [0, 1]}    a task begins; the answer has its id. "names" may name the classes
//	POST /learn    {"task": 1, "x": [[…]], "classes": [0]}  samples to learn from; waits while there is no room
//	POST /end      {"task": 1}                              the task ends when its samples have been trained on
//	POST /predict  {"x": [[…]]}                             for each sample its class, all classes, their probabilities
//
//	GET  /tasks                                             the tasks that have arrived
//
// A bad request is answered with {"error": "…"}.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tasks", func(w http.ResponseWriter, _ *http.Request) { answer(w, tasksOf(s.learner.Tasks()), nil) })
	for path, f := range map[string]func(context.Context, request) (any, error){
		"/tasks": s.begin, "/learn": s.learn, "/end": s.end, "/predict": s.predict,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, q *http.Request) {
			var r request
			var out any
			err := json.NewDecoder(http.MaxBytesReader(w, q.Body, 64<<20)).Decode(&r)
			if err == nil {
				out, err = f(q.Context(), r)
			}
			answer(w, out, err)
		})
	}
	return mux
}

func answer(w http.ResponseWriter, out any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		out = map[string]string{"error": err.Error()}
	}
	json.NewEncoder(w).Encode(out)
}

// described is a task as the answer to GET /tasks has it.
type described struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Classes []int    `json:"classes"`
	Names   []string `json:"names,omitempty"`
	Ended   bool     `json:"ended"`
}

func tasksOf(tasks []pcl.TaskInfo) []described {
	out := []described{}
	for _, t := range tasks {
		out = append(out, described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended})
	}
	return out
}

// prediction is a [pcl.Prediction] with the names that its fields have in JSON.
type prediction struct {
	Class         int       `json:"class"`
	Name          string    `json:"name,omitempty"`
	Classes       []int     `json:"classes"`
	Probabilities []float64 `json:"probabilities"`
}

// values returns the samples' values one after another, or an error that names the first sample of another size.
func (s *Service) values(samples [][]float32) ([]float32, error) {
	width := s.learner.Options().Model.Inputs()
	for i, x := range samples {
		if len(x) != width {
			return nil, fmt.Errorf("sample %d has %d values, want %d", i, len(x), width)
		}
	}
	return slices.Concat(samples...), nil
}

func (s *Service) begin(_ context.Context, r request) (any, error) {
	task, err := s.newTask(r.Name, r.Classes, r.Names)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	id, err := s.learner.Attach(task)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s.streams.Store(id, task.Stream)
	return map[string]int{"id": id}, s.renew() // predictions know the classes from now on
}

func (s *Service) learn(ctx context.Context, r request) (any, error) {
	stream, ok := s.streams.Load(r.Task)
	if !ok {
		return nil, fmt.Errorf("there is no task %d", r.Task)
	}
	x, err := s.values(r.X)
	if err != nil {
		return nil, err
	}
	n, err := stream.(*data.Push).Push(ctx, x, r.Classes...)
	return map[string]int{"taken": n}, err
}

func (s *Service) end(_ context.Context, r request) (any, error) {
	stream, ok := s.streams.Load(r.Task)
	if !ok {
		return nil, fmt.Errorf("there is no task %d", r.Task)
	}
	stream.(*data.Push).End()
	return struct{}{}, nil
}

func (s *Service) predict(_ context.Context, r request) (any, error) {
	x, err := s.values(r.X)
	if err != nil {
		return nil, err
	}
	all, err := s.predictor.Load().Predict(x)
	if err != nil {
		return nil, err
	}
	out := make([]prediction, len(all))
	for i, p := range all {
		out[i] = prediction(p)
	}
	return out, nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// request is the JSON of all requests. X has the samples, and Classes their classes; for a new task, those that it has.
type request struct {
	Name    string      `json:"name"`
	Task    int         `json:"task"`
	Classes []int       `json:"classes"`
	X       [][]float32 `json:"x"`
}

// requests answers
//
//	POST /tasks    {"name": "digits", "classes": [0, 1]}    a task begins; the answer has its id
//	POST /learn    {"task": 1, "x": [[…]], "classes": [0]}  samples to learn from; waits while there is no room
//	POST /end      {"task": 1}                              the task ends when its samples have been trained on
//	POST /predict  {"x": [[…]]}                             for each sample its class, all classes, their probabilities
//
// A bad request is answered with {"error": "…"}.
func (s *service) requests() http.Handler {
	mux := http.NewServeMux()
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
			w.Header().Set("Content-Type", "application/json")
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				out = map[string]string{"error": err.Error()}
			}
			json.NewEncoder(w).Encode(out)
		})
	}
	return mux
}

func (s *service) begin(_ context.Context, r request) (any, error) {
	task, err := newTask(s.inputs, r.Name, r.Classes)
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

func (s *service) learn(ctx context.Context, r request) (any, error) {
	stream, ok := s.streams.Load(r.Task)
	if !ok {
		return nil, fmt.Errorf("there is no task %d", r.Task)
	}
	n, err := stream.(*data.Push).Push(ctx, slices.Concat(r.X...), r.Classes...)
	return map[string]int{"taken": n}, err
}

func (s *service) end(_ context.Context, r request) (any, error) {
	stream, ok := s.streams.Load(r.Task)
	if !ok {
		return nil, fmt.Errorf("there is no task %d", r.Task)
	}
	stream.(*data.Push).End()
	return struct{}{}, nil
}

func (s *service) predict(_ context.Context, r request) (any, error) {
	return s.predictor.Load().Predict(slices.Concat(r.X...))
}

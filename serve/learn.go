package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// samples are those of a request.
type samples [][]float32

// flat returns their values one after another.
func (x samples) flat(width int) ([]float32, error) {
	values := make([]float32, 0, len(x)*width)
	for i, row := range x {
		if len(row) != width {
			return nil, fmt.Errorf("x: sample %d has %d values, want %d", i, len(row), width)
		}
		values = append(values, row...)
	}
	return values, nil
}

// toLearn is a request with samples of a task.
type toLearn struct {
	onTask
	X       samples `json:"x"`
	Classes []int   `json:"classes"`
}

// taken says how many samples were taken. It is in the answer also when the others were not.
type taken struct {
	Taken int `json:"taken"`
}

func (s *Service) learn(ctx context.Context, q toLearn) (any, error) {
	var done taken
	values, err := q.X.flat(s.width())
	if err != nil {
		return done, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = s.changingTask(ctx, q.onTask, func(id int) error {
		stream, err := s.stream(id)
		if err == nil {
			done.Taken, err = stream.Push(ctx, values, q.Classes...)
		}
		if errors.Is(err, data.ErrEnded) {
			err = fmt.Errorf("task %d was ended, and takes no more samples", id)
		}
		return err
	})
	return done, err
}

// stream returns that of a task that runs.
func (s *Service) stream(id int) (*data.Push, error) {
	if stream, ok := s.streams.Load(id); ok {
		return stream.(*data.Push), nil
	}
	if id < 0 || id > s.learner.Arrived() {
		return nil, fmt.Errorf("there is no task %d", id)
	}
	return nil, fmt.Errorf("task %d has ended", id)
}

// toPredict is a request for predictions.
type toPredict struct {
	Task *int    `json:"task"` // nil if none is given
	X    samples `json:"x"`
}

// prediction is a [pcl.Prediction] with the names that its fields have in JSON.
type prediction struct {
	Class         int       `json:"class"`
	Name          string    `json:"name,omitempty"`
	Classes       []int     `json:"classes"`
	Probabilities []float64 `json:"probabilities"`
}

// atOnce is how many samples are predicted before it is looked whether the client is still there.
const atOnce = 1024

// maxProbabilities is how many probabilities an answer has at most, since a small request may have a large one.
var maxProbabilities = 4 << 20

func (s *Service) predict(ctx context.Context, q toPredict) (any, error) {
	width := s.width()
	values, err := q.X.flat(width)
	if err != nil {
		return nil, err
	}
	p, out := s.predictor.Load(), []prediction{}
	for from := 0; from == 0 || from < len(q.X); from += atOnce {
		var some []pcl.Prediction
		some, err = predicted(p, q.Task, values[from*width:min(from+atOnce, len(q.X))*width])
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		for _, one := range some {
			out = append(out, prediction(one))
		}
		if classes := len(out[0].Probabilities); len(q.X) > maxProbabilities/classes {
			return nil, fmt.Errorf("%d samples of %d classes: an answer has at most %d probabilities; send several requests", len(q.X), classes, maxProbabilities)
		}
	}
	return out, nil
}

func predicted(p *pcl.Predictor, task *int, values []float32) ([]pcl.Prediction, error) {
	if task == nil {
		return p.Predict(values)
	}
	return p.PredictTask(*task, values)
}

// network answers with a file of the network as it is now, in the form in which write writes it.
func (s *Service) network(write func(*pcl.Trained, io.Writer) error) func() (any, error) {
	return func() (any, error) {
		s.sending.Lock()
		defer s.sending.Unlock()
		trained, err := s.learner.Trained() // holds up training only while the parameters are copied
		var file bytes.Buffer
		if err == nil {
			err = write(trained, &file)
		}
		if err != nil {
			return nil, fault(err)
		}
		return file.Bytes(), nil
	}
}

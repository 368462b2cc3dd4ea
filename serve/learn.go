package serve

import (
	"bytes"
	"cmp"
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

// partly is an error after which some samples were taken.
type partly struct {
	error
	taken int
}

func (p partly) Unwrap() error { return p.error }

func (s *Service) learn(ctx context.Context, q toLearn) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	taken, err := s.push(ctx, q)
	if err != nil {
		return nil, partly{err, taken}
	}
	return map[string]int{"taken": taken}, nil
}

// push hands the samples of a request to the stream of their task, and says how many it took.
func (s *Service) push(ctx context.Context, q toLearn) (taken int, err error) {
	values, err := q.X.flat(s.width())
	if err != nil {
		return 0, err
	}
	done, err := s.changing(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	stream, err := s.stream(q.onTask)
	if err != nil {
		return 0, err
	}
	if taken, err = stream.Push(ctx, values, q.Classes...); errors.Is(err, data.ErrEnded) {
		err = fmt.Errorf("task %d was ended, and takes no more samples", q.Task)
	}
	return taken, err
}

// stream returns that of a task that runs.
func (s *Service) stream(q onTask) (*data.Push, error) {
	stream, ok := s.streams.Load(q.Task)
	switch {
	case q.Task == 0:
		return nil, errors.New(`"task" is missing: the id that POST /tasks has answered`)
	case ok:
		return stream.(*data.Push), nil
	case q.Task < 0 || q.Task > s.learner.Arrived():
		return nil, fmt.Errorf("there is no task %d", q.Task)
	}
	return nil, fmt.Errorf("task %d has ended", q.Task)
}

// toPredict is a request for predictions.
type toPredict struct {
	Task *int    `json:"task"` // nil if none is given
	X    samples `json:"x"`
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
	p, out := s.predictor.Load(), []pcl.Prediction{}
	for from := 0; from == 0 || from < len(q.X); from += atOnce {
		some, err := predicted(p, q.Task, values[from*width:min(from+atOnce, len(q.X))*width])
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		out = append(out, some...)
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
		if err != nil {
			return nil, ours(err)
		}
		var file bytes.Buffer
		err = write(trained, &file)
		return file.Bytes(), ours(err)
	}
}

package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/pcl"
)

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

func (s *Service) predict(ctx context.Context, q *arrived) (any, error) {
	var task *int // nil if none is given
	x := s.samples()
	if err := q.read(ctx, fields{"task": &task, "x": x}); err != nil {
		return nil, err
	}
	p, out := s.predictor.Load(), make([]prediction, 0, x.n)
	for from := 0; from == 0 || from < x.n; from += atOnce {
		some, err := s.predictSome(ctx, p, task, x.values[from*x.width:min(from+atOnce, x.n)*x.width])
		if err == nil {
			err = q.room.take(8 * len(some) * len(some[0].Probabilities))
		}
		if err != nil {
			return nil, err
		}
		for _, one := range some {
			out = append(out, prediction(one))
		}
		if classes := len(out[0].Probabilities); x.n > maxProbabilities/classes {
			return nil, fmt.Errorf("%d samples of %d classes: an answer has at most %d probabilities; send several requests", x.n, classes, maxProbabilities)
		}
	}
	return out, nil
}

func (s *Service) predictSome(ctx context.Context, p *pcl.Predictor, task *int, values []float32) (out []pcl.Prediction, err error) {
	err = s.working.do(ctx, func() error {
		if task == nil {
			out, err = p.Predict(values)
		} else {
			out, err = p.PredictTask(*task, values)
		}
		return err
	})
	return out, err
}

// network answers with a file of the network as it is now, in the form in which write writes it.
func (s *Service) network(write func(*pcl.Trained, io.Writer) error) func(context.Context, *arrived) (any, error) {
	return func(ctx context.Context, _ *arrived) (any, error) {
		var file bytes.Buffer
		err := s.sending.do(ctx, func() error {
			trained, err := s.learner.Trained() // holds up training only while the parameters are copied
			if err == nil {
				err = write(trained, &file)
			}
			if err != nil {
				return internalError{err}
			}
			return nil
		})
		return file.Bytes(), err
	}
}

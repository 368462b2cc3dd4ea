package serve

import (
	"context"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl"
)

// prediction is a [pcl.Prediction] with the names that its fields have in JSON.
type prediction struct {
	Class         int       `json:"class"`
	Name          string    `json:"name,omitempty"`
	Classes       []int     `json:"classes"`
	Probabilities []float64 `json:"probabilities"`
}

func (s *Service) predict(ctx context.Context, q *arrived) (any, error) {
	var task *int // nil if none is given
	x := s.samples()
	if err := q.read(ctx, fields{"task": &task, "x": x}); err != nil {
		return nil, err
	}
	p := s.predictor.Load()
	return predictions(ctx, x, func(values []float32) (out []pcl.Prediction, err error) {
		err = s.working.do(ctx, func() error {
			if task == nil {
				out, err = p.Predict(values)
			} else {
				out, err = p.PredictTask(*task, values)
			}
			return err
		})
		if err == nil && len(out) > 0 {
			err = q.room.take(8 * len(out) * len(out[0].Probabilities))
		}
		return out, err
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

package serve

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// samples are those of a request.
type samples [][]float32

// flat returns their values one after another.
func (x samples) flat(width int) []float32 {
	values := make([]float32, 0, len(x)*width)
	for i, row := range x {
		if len(row) != width {
			fail.Now("x: sample %d has %d values, want %d", i, len(row), width)
		}
		values = append(values, row...)
	}
	return values
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

func (s *Service) learn(ctx context.Context, q toLearn) any {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	taken := 0
	err := fail.Tried(func() {
		values := q.X.flat(s.width())
		defer s.changing(ctx)()
		var err error
		taken, err = s.stream(q.id()).Push(ctx, values, q.Classes...)
		fail.When(errors.Is(err, data.ErrEnded), "task %d was ended, and takes no more samples", q.Task)
		fail.If(err)
	})
	if err != nil {
		fail.If(partly{err, taken})
	}
	return map[string]int{"taken": taken}
}

// stream returns that of a task that runs.
func (s *Service) stream(id int) *data.Push {
	stream, ok := s.streams.Load(id)
	fail.When(!ok && (id < 0 || id > s.learner.Arrived()), "there is no task %d", id)
	fail.When(!ok, "task %d has ended", id)
	return stream.(*data.Push)
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

func (s *Service) predict(ctx context.Context, q toPredict) any {
	width := s.width()
	values := q.X.flat(width)
	p, out := s.predictor.Load(), []pcl.Prediction{}
	for from := 0; from == 0 || from < len(q.X); from += atOnce {
		out = append(out, predicted(p, q.Task, values[from*width:min(from+atOnce, len(q.X))*width])...)
		fail.If(ctx.Err())
		classes := len(out[0].Probabilities)
		fail.When(len(q.X) > maxProbabilities/classes, "%d samples of %d classes: an answer has at most %d probabilities; send several requests", len(q.X), classes, maxProbabilities)
	}
	return out
}

func predicted(p *pcl.Predictor, task *int, values []float32) []pcl.Prediction {
	if task == nil {
		return fail.Or(p.Predict(values))
	}
	return fail.Or(p.PredictTask(*task, values))
}

// network answers with a file of the network as it is now, in the form in which write writes it.
func (s *Service) network(write func(*pcl.Trained, io.Writer) error) func() any {
	return func() any {
		s.sending.Lock()
		defer s.sending.Unlock()
		trained, err := s.learner.Trained() // holds up training only while the parameters are copied
		ours(err)
		var file bytes.Buffer
		ours(write(trained, &file))
		return file.Bytes()
	}
}

package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// samples are those of a request: n rows of equal width, one after another.
type samples struct {
	values   []float32
	n, width int
}

// UnmarshalJSONFrom reads a list of lists, without a list for each in memory.
func (x *samples) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if t, err := in.ReadToken(); err != nil || t.Kind() == 'n' {
		return err
	} else if t.Kind() != '[' {
		return errors.New("want a list of samples, each a list of numbers")
	}
	for row := []float32(nil); in.PeekKind() != ']'; x.n++ {
		if err := json.UnmarshalDecode(in, &row); err != nil {
			return err
		}
		if x.n > 0 && len(row) != x.width {
			return fmt.Errorf("sample %d has %d values, and sample 0 has %d", x.n, len(row), x.width)
		}
		x.values, x.width = append(x.values, row...), len(row)
	}
	_, err := in.ReadToken()
	return err
}

// of returns an error unless there are samples, each of so many values.
func (x *samples) of(width int) error {
	switch {
	case x.n == 0:
		return errors.New(`"x" is missing: a list of samples, each a list of numbers`)
	case x.width != width:
		return fmt.Errorf("x: sample 0 has %d values, want %d", x.width, width)
	}
	return nil
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
	done, err := s.changing(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	stream, err := s.stream(q.onTask)
	if err != nil {
		return 0, err
	}
	if err := q.X.of(s.width()); err != nil {
		return 0, err
	}
	if taken, err = stream.Push(ctx, q.X.values, q.Classes...); errors.Is(err, data.ErrEnded) {
		err = fmt.Errorf("task %d was ended, and takes no more samples", q.Task)
	}
	return taken, err
}

// stream returns that of a task that runs.
func (s *Service) stream(q onTask) (*data.PushStream, error) {
	stream, ok := s.streams.Load(q.Task)
	if ok {
		return stream.(*data.PushStream), nil
	}
	if _, err := s.task(q.Task); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("task %d has ended", q.Task)
}

// task returns what is known of a task. An id that was given may be lost: the service was killed
// before it was saved.
func (s *Service) task(id int) (pcl.TaskInfo, error) {
	all := s.learner.Tasks()
	switch at := slices.IndexFunc(all, func(t pcl.TaskInfo) bool { return t.ID == id }); {
	case at >= 0:
		return all[at], nil
	case id == 0:
		return pcl.TaskInfo{}, errors.New(`"task" is missing: the id that POST /tasks has answered`)
	case id > 0 && id <= s.learner.LastID():
		return pcl.TaskInfo{}, fmt.Errorf("task %d is not here: if it was begun, the service was stopped before it was "+
			"saved; begin another one, and send all of its samples", id)
	}
	return pcl.TaskInfo{}, fmt.Errorf("there is no task %d", id)
}

// toPredict is a request for predictions.
type toPredict struct {
	Task *int    `json:"task"` // nil if none is given
	X    samples `json:"x"`
}

// atOnce is how many samples are predicted before it is looked whether the client is still there.
const atOnce = 1024

// maxProbabilities is how many probabilities an answer has at most, since a small request may have
// a large one.
var maxProbabilities = 4 << 20

func (s *Service) predict(ctx context.Context, q toPredict) (any, error) {
	width := s.width()
	if err := q.X.of(width); err != nil {
		return nil, err
	}
	p, out := s.predictor.Load(), []pcl.Prediction{}
	for from := 0; from < q.X.n; from += atOnce {
		some, err := predicted(p, q.Task, q.X.values[from*width:min(from+atOnce, q.X.n)*width])
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		out = append(out, some...)
		if classes := len(out[0].Probabilities); q.X.n > maxProbabilities/classes {
			return nil, fmt.Errorf("%d samples of %d classes: an answer has at most %d probabilities; send several requests",
				q.X.n, classes, maxProbabilities)
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
func (s *Service) network(write func(*pcl.Network, io.Writer) error) func() (any, error) {
	return func() (any, error) {
		s.sending.Lock()
		defer s.sending.Unlock()
		trained, err := s.learner.Network() // holds up training only while the parameters are copied
		if err != nil {
			return nil, ours(err)
		}
		var file bytes.Buffer
		err = write(trained, &file)
		return file.Bytes(), ours(err)
	}
}

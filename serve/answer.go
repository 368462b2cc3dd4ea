package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl"
)

// answers are what predictions are made with: the newest snapshot of the learner or, until there is
// one, the network that was saved last.
type answers struct {
	newest atomic.Pointer[answerer]
	first  chan struct{} // closed when there is one
	once   sync.Once
	freed  sync.WaitGroup // of those that training has replaced
}

// answerer predicts with one snapshot.
type answerer struct {
	*pcl.Predictor
	early bool   // of the saved network, by pure Go
	after func() // what is done when it is not needed any more; nil if nothing is
	queue queue
}

// offer lets a snapshot predict unless there is a newer one, and returns the one that is not needed
// any more, which the caller frees.
func (a *answers) offer(next *answerer) (unused *answerer) {
	for {
		old := a.newest.Load()
		if old != nil && (next.early || !old.early && !next.Newer(old.Predictor)) {
			return next
		}
		if a.newest.CompareAndSwap(old, next) {
			a.once.Do(func() { close(a.first) })
			return old
		}
	}
}

// close ends predictions.
func (a *answers) close() {
	if last := a.newest.Load(); last != nil {
		last.free()
	}
}

// free waits for the requests that are being answered, so that the next snapshot finds the memory.
func (a *answerer) free() {
	if a == nil {
		return
	}
	a.Close()
	if a.after != nil {
		a.after()
	}
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
	if err := s.await(ctx, s.answers.first); err != nil {
		return nil, err
	}
	for {
		out, err := s.answers.newest.Load().all(ctx, q)
		if !errors.Is(err, pcl.ErrClosed) || s.ending.Err() != nil { // a later snapshot has taken its place
			return out, err
		}
	}
}

// all predicts the samples of a request.
func (a *answerer) all(ctx context.Context, q toPredict) (any, error) {
	width := a.Inputs()
	if err := q.X.of(width); err != nil {
		return nil, err
	}
	out := []pcl.Prediction{}
	for from := 0; from < q.X.n; from += atOnce {
		some, err := a.some(q.Task, q.X.values[from*width:min(from+atOnce, q.X.n)*width])
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

// some predicts samples, a few of them together with those of other requests.
func (a *answerer) some(task *int, values []float32) ([]pcl.Prediction, error) {
	if len(values) > together*a.Inputs() {
		return a.predicted(task, values)
	}
	return a.queue.do(&asked{task: task, values: values, turn: make(chan bool, 1)}, a.predicted, together*a.Inputs())
}

func (a *answerer) predicted(task *int, values []float32) ([]pcl.Prediction, error) {
	if task == nil {
		return a.Predict(values)
	}
	return a.PredictTask(*task, values)
}

// together is how many samples of several requests are predicted at once.
const together = 32

// queue has requests wait while one is predicted, and then predicts those that wait at once. No
// request waits while none is predicted.
type queue struct {
	mu      sync.Mutex
	busy    bool
	waiting []*asked
}

// asked is a request in a queue.
type asked struct {
	task   *int
	values []float32
	out    []pcl.Prediction
	err    error
	turn   chan bool // whether the request is to predict for those that wait, or has been answered
}

// like says whether two requests choose among the same classes.
func (q *asked) like(other *asked) bool {
	return (q.task == nil) == (other.task == nil) && (q.task == nil || *q.task == *other.task)
}

// predicting makes the predictions for samples.
type predicting func(task *int, values []float32) ([]pcl.Prediction, error)

// do predicts for a request, when its turn comes, and for others that fit in the same batch, which
// has at most so many values.
func (w *queue) do(q *asked, predict predicting, most int) ([]pcl.Prediction, error) {
	w.mu.Lock()
	if w.busy {
		w.waiting = append(w.waiting, q)
		w.mu.Unlock()
		if lead := <-q.turn; !lead {
			return q.out, q.err
		}
		w.mu.Lock()
	}
	w.busy = true
	batch := w.take(q, most)
	w.mu.Unlock()
	defer func() { // also if predict panics
		for _, other := range batch[1:] {
			other.turn <- false
		}
		w.next()
	}()
	answer(batch, predict)
	return q.out, q.err
}

// take takes from those that wait the ones that fit in a batch with q.
func (w *queue) take(q *asked, most int) []*asked {
	batch, size := []*asked{q}, len(q.values)
	w.waiting = slices.DeleteFunc(w.waiting, func(other *asked) bool {
		if !q.like(other) || size+len(other.values) > most {
			return false
		}
		batch, size = append(batch, other), size+len(other.values)
		return true
	})
	return batch
}

// next gives the turn to the first that waits.
func (w *queue) next() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy = len(w.waiting) > 0; w.busy {
		w.waiting[0].turn <- true
		w.waiting = slices.Delete(w.waiting, 0, 1)
	}
}

// answer predicts for the requests of a batch at once or, if that fails, for one after the other:
// only one of them may be at fault.
func answer(batch []*asked, predict predicting) {
	if len(batch) > 1 {
		var values []float32
		for _, q := range batch {
			values = append(values, q.values...)
		}
		if out, err := predict(batch[0].task, values); err == nil {
			for _, q := range batch {
				n := len(out) * len(q.values) / len(values)
				q.out = out[:n:n]
				values, out = values[len(q.values):], out[n:]
			}
			return
		}
	}
	for _, q := range batch {
		q.out, q.err = predict(q.task, q.values)
	}
}

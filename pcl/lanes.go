package pcl

import (
	"slices"
	"sync"
	"time"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
)

// beginGradients starts to compute the gradients of as many rows as there are lanes, at the same time. Call
// finished for each row in order: it returns when that row's gradient is there. wait returns when no row is
// being computed any more.
func (s *step) beginGradients() (finished func(i int) error, wait func()) {
	began, lanes := time.Now(), s.lanes[:min(len(s.lanes), len(s.rows))]
	clients := len(lanes) > 1 && lanes[0] != lanes[1]
	if clients && s.pace.one() {
		lanes = lanes[:1]
	}
	timed := func() {
		if clients {
			s.pace.took(len(lanes) == 1, time.Since(began)/time.Duration(len(s.rows)))
		}
	}
	for len(s.network.parts) < len(lanes) {
		s.network.parts = append(s.network.parts, device.Parts{})
	}
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock. All lanes read θ, so its
	// shape is asked for here, before they start.
	if _, err := s.network.theta.Shape(); err != nil {
		return func(int) error { return err }, func() {}
	}
	if len(lanes) < 2 {
		theta, err := s.network.parts[0].Of(s.programs, s.network.theta)
		if err != nil {
			return func(int) error { return err }, func() {}
		}
		return func(i int) error { return s.rowOn(s.programs, theta, i) }, timed
	}
	var busy sync.WaitGroup
	q := s.queueRows()
	for n, set := range lanes {
		busy.Go(func() { s.lane(set, &s.network.parts[n], q) })
	}
	return func(i int) error { return <-q.done[i] }, func() { busy.Wait(); timed() }
}

// lane computes rows on the client of a set until none is left.
func (s *step) lane(set *graphs.Set, parts *device.Parts, q *queue) {
	theta, err := parts.Of(set, s.network.theta)
	for i := q.take(set.Backend); i >= 0; i = q.take(set.Backend) {
		if err != nil {
			q.done[i] <- err
			continue
		}
		q.done[i] <- s.rowOn(set, theta, i)
	}
}

// rowOn computes the gradient of a row that has none yet.
func (s *step) rowOn(set *graphs.Set, theta []compute.Buffer, i int) error {
	if r := &s.rows[i]; r.Flat == nil {
		return s.differentiateRow(set, theta, r)
	}
	return nil
}

// queue holds the rows that no lane has taken yet.
type queue struct {
	mu   sync.Mutex
	left []int
	rows []row
	done []chan error
}

func (s *step) queueRows() *queue {
	q := &queue{rows: s.rows}
	for i := range s.rows {
		q.left, q.done = append(q.left, i), append(q.done, make(chan error, 1))
	}
	return q
}

// take returns the next row for a client, -1 if there is none. One whose batch the client can read in place comes first.
func (q *queue) take(client compute.Backend) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.left) == 0 {
		return -1
	}
	at := max(0, slices.IndexFunc(q.left, func(i int) bool { return q.rows[i].batch.On(client) }))
	i := q.left[at]
	q.left = slices.Delete(q.left, at, at+1)
	return i
}

// differentiateRow computes one row's loss and gradient and, if the method needs them, the gradients of the
// two halves of its batch. theta is on the client of the set.
func (l *Learner) differentiateRow(set *graphs.Set, theta []compute.Buffer, r *row) (err error) {
	if r.Gradient, err = device.Differentiate(set, theta, r.batch, r.loss); err != nil {
		return err
	}
	if !l.options.Method.Info().NeedsCross {
		return nil
	}
	defer r.batch.All()
	for h := range r.halves {
		if r.batch.Half(h); l.options.Weighted && !r.batch.Weighs() {
			r.batch.All() // half a batch without weight has no gradient
		}
		g, err := device.Differentiate(set, theta, r.batch, r.loss)
		if err != nil {
			return err
		}
		r.halves[h], g.Flat = g.Flat, nil
		g.Free()
	}
	return nil
}

package pcl

import (
	"slices"
	"sync"
	"time"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// gradients computes the gradient of each row that has none yet, and brings to the host what it needs of all
// rows: the losses, the statistics of the batches, and the inner products that are asked for.
func (s *step) gradients(asked device.Products) (gram []float64) {
	finish, wait := s.beginGradients()
	defer wait()
	s.readout.Begin(len(s.rows), asked)
	for i := range s.rows {
		finish(i)
		s.readout.Add(&s.rows[i].Gradient)
	}
	gram = s.readout.Finish()
	for i := range s.rows {
		if r := &s.rows[i]; !r.observed {
			averageIn(s.network.statistics, r.Statistics)
			r.observed = true
		}
	}
	return gram
}

// beginGradients starts to compute the gradients of as many rows as there are lanes, at the same time. Call
// finish for each row in order: it returns when that row's gradient is there. wait returns when no row is
// being computed any more.
func (s *step) beginGradients() (finish func(i int), wait func()) {
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
	fail.Or(s.network.theta.Shape())
	q := s.queueRows(len(lanes))
	if len(lanes) < 2 {
		theta := s.network.parts[0].Of(s.programs, s.network.theta)
		return func(i int) {
			for s.rows[i].Flat == nil {
				s.differentiateRows(s.programs, theta, q.take(s.programs)...)
			}
		}, timed
	}
	var busy sync.WaitGroup
	for n, set := range lanes {
		busy.Go(func() { s.lane(set, &s.network.parts[n], q) })
	}
	return func(i int) { fail.If(<-q.done[i]) }, func() { busy.Wait(); timed() }
}

// lane computes rows on the client of a set until none is left.
func (s *step) lane(set *device.Set, parts *device.Parts, q *queue) {
	var theta []compute.Buffer
	err := fail.Tried(func() { theta = parts.Of(set, s.network.theta) })
	for rows := q.take(set); len(rows) > 0; rows = q.take(set) {
		done := err
		if done == nil {
			done = fail.Tried(func() { s.differentiateRows(set, theta, rows...) })
		}
		for _, i := range rows {
			q.done[i] <- done
		}
	}
}

// queue holds the rows that no lane has taken yet.
type queue struct {
	mu   sync.Mutex
	left []int
	rows []row
	most int // how many a lane takes at once
	done []chan error
}

// mostAtOnce limits the size of programs, and their number.
const mostAtOnce = 3

func (s *step) queueRows(lanes int) *queue {
	q := &queue{rows: s.rows}
	for i, r := range s.rows {
		q.done = append(q.done, make(chan error, 1))
		if r.Flat == nil {
			q.left = append(q.left, i)
		} else {
			q.done[i] <- nil // it has a gradient
		}
	}
	each := (len(q.left) + lanes - 1) / lanes // falls to a lane, in calls of much the same size
	calls := max(1, (each+mostAtOnce-1)/mostAtOnce)
	q.most = (each + calls - 1) / calls
	return q
}

// take returns the next rows for a client, none if there are none left: one or, where a program takes more, some of the same loss. Those
// whose batch the client can read in place come first.
func (q *queue) take(set *device.Set) []int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.left) == 0 {
		return nil
	}
	place := func(i int) int {
		if q.rows[i].batch.On(set.Backend) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(q.left, func(i, j int) int { return place(i) - place(j) })
	first := &q.rows[q.left[0]]
	rows := slices.DeleteFunc(slices.Clone(q.left), func(i int) bool { return q.rows[i].loss != first.loss })
	rows = rows[:min(len(rows), q.most)]
	if !device.Stacks(set, first.loss, len(rows)) {
		rows = rows[:1]
	}
	q.left = slices.DeleteFunc(q.left, func(i int) bool { return slices.Contains(rows, i) })
	return rows
}

// differentiateRows computes the losses and gradients of rows with one kind of loss and, if the method needs them, the gradients
// of the two halves of each batch. theta is on the client of the set.
func (s *step) differentiateRows(set *device.Set, theta []compute.Buffer, rows ...int) {
	batches := make([]*device.Batch, len(rows))
	for k, i := range rows {
		batches[k] = s.rows[i].batch
	}
	gradients := set.Differentiate(theta, s.rows[rows[0]].loss, batches...)
	for k, i := range rows {
		s.rows[i].Gradient = gradients[k]
	}
	if s.options.Method.Info().NeedsCross {
		for _, i := range rows {
			r := &s.rows[i]
			set.DifferentiateHalves(&r.halves, theta, r.loss, r.batch)
		}
	}
}

package device

import (
	"slices"
	"sync"
	"time"

	"github.com/gomlx/compute"
	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/nice"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Trainer makes the steps of one learner: the gradients of their rows, on as many clients as help,
// what the host needs of these, and the updates. Its programs are those of the first client.
type Trainer struct {
	*Set
	lanes []*Set  // one entry for each gradient that may be computed at the same time
	parts []parts // copies of θ on the clients that need one
	read  readout
	adam  *adam // nil where programs make the updates
	paces paces
	low   nice.Workers // compute lanes where Cache.Nice is set
	by    int
}

// Trainer returns a trainer for one kind of learner, which computes up to n gradients at once on
// each client, and compiles what every step on rows with a loss needs. If the memory is to be
// edited somewhere, it compiles that, too, which fails if the network lacks the second derivative.
// Close it when it is no longer needed.
func (c *Cache) Trainer(s Spec, n int, l rehearsal.Loss, edits *At) (*Trainer, error) {
	sets := c.Sets(s)
	t := &Trainer{Set: sets[0], lanes: slices.Repeat(sets, n), paces: paces{}, by: c.Nice}
	t.read = newReadout(t.Set)
	if descends(t.Set) {
		t.adam = newAdam(t.Set)
	}
	var compiling errgroup.Group
	for _, set := range sets {
		compiling.Go(func() error {
			_, err := set.gradient(l, TakesParts(set.Backend), 1)
			return err
		})
	}
	if edits != nil {
		compiling.Go(func() error {
			_, err := t.edit(edits.Running != nil, l)
			return err
		})
	}
	if err := compiling.Wait(); err != nil {
		return nil, err
	}
	return t, nil
}

// Close releases what the trainer has on the device, which is not the programs.
func (t *Trainer) Close() {
	for i := range t.parts {
		t.parts[i].free()
	}
	t.parts = nil
	t.low.Stop()
}

// Lane returns the programs of the client that computes a lane, whichever has that number: what
// belongs to tasks is spread over the clients.
func (t *Trainer) Lane(n int) *Set { return t.lanes[n%len(t.lanes)] }

// Compilations returns how many programs have been compiled for all learners of the same kind that
// share them.
func (t *Trainer) Compilations() (n int) {
	for _, set := range slices.Compact(slices.Clone(t.lanes)) { // lanes of one client share its set
		n += int(set.counter.Load())
	}
	return n
}

// Warm compiles the updates and inner products of steps of up to k rows in advance, where programs
// compute these.
func (t *Trainer) Warm(k int, asked Products) error {
	most := mostRows(t.Set)
	_, byProgram := t.read.(*readOnce)
	for n := 1; n <= k; n++ {
		if byProgram {
			if _, err := t.readout(min(n, maxRows), asked); err != nil {
				return err
			}
		}
		if t.adam == nil {
			if _, err := t.update(min(n, most)); err != nil {
				return err
			}
		}
	}
	if byProgram && k > maxRows && asked.Gram {
		if _, err := t.across(); err != nil {
			return err
		}
	}
	if k > most && most > 1 {
		if _, err := t.sum(); err != nil {
			return err
		}
		if _, err := t.add(); err != nil {
			return err
		}
	}
	return nil
}

// Gradients computes the gradient at θ of each row that has none yet, and brings to the host what
// it needs of all rows: the losses, the statistics of the batches, and the Gram matrix of the
// gradients, K×K, stored row by row. Entries of it that were not asked for are 0. The batches'
// targets must have been set ([Batch.Aim]).
func (t *Trainer) Gradients(theta compute.Buffer, rows []*Row, asked Products) (gram []float64, err error) {
	finish, wait, err := t.begin(theta, rows, asked.Halves)
	if err != nil {
		return nil, err
	}
	defer wait()
	defer t.read.wait()
	t.read.begin(len(rows), asked)
	for i, r := range rows {
		if err := finish(i); err != nil {
			return nil, err
		}
		if err := t.read.add(r); err != nil {
			return nil, err
		}
	}
	return t.read.finish()
}

// begin starts to compute the gradients of as many rows as there are lanes, at the same time. Call
// finish for each row in order: it returns when that row's gradient is there. wait returns when no
// row is being computed any more.
func (t *Trainer) begin(theta compute.Buffer, rows []*Row, halves bool) (finish func(i int) error, wait func(),
	err error) {
	began, lanes := time.Now(), t.lanes[:min(len(t.lanes), len(rows))]
	var pace *pace
	if len(lanes) > 1 && lanes[0] != lanes[1] {
		pace = t.paces.of(rows)
	}
	if pace != nil && pace.one() {
		lanes = lanes[:1]
	}
	timed := func() {
		if pace != nil {
			pace.took(len(lanes) == 1, time.Since(began))
		}
	}
	for len(t.parts) < len(lanes) {
		t.parts = append(t.parts, parts{})
	}
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock. All lanes
	// read θ, so its shape is asked for here, before they start.
	if _, err := theta.Shape(); err != nil {
		return nil, nil, err
	}
	q := queueOf(rows, len(lanes))
	if len(lanes) < 2 {
		at, err := t.parts[0].of(t.Set, theta)
		if err != nil {
			return nil, nil, err
		}
		return func(i int) error {
			for rows[i].Flat == nil {
				if err := t.differentiate(at, halves, q.take(t.Set)...); err != nil {
					return err
				}
			}
			return nil
		}, timed, nil
	}
	var busy sync.WaitGroup
	for n, set := range lanes {
		work := func() { q.work(set, &t.parts[n], theta, halves) }
		if t.by > 0 {
			t.low.Go(n, t.by, &busy, work)
		} else {
			busy.Go(work)
		}
	}
	return func(i int) error { return <-q.done[rows[i]] }, func() { busy.Wait(); timed() }, nil
}

// queue holds the rows that no lane has taken yet.
type queue struct {
	mu   sync.Mutex
	left []*Row
	most int // how many a lane takes at once
	done map[*Row]chan error
}

// mostAtOnce limits the size of programs, and their number.
const mostAtOnce = 3

func queueOf(rows []*Row, lanes int) *queue {
	q := &queue{done: map[*Row]chan error{}}
	for _, r := range rows {
		q.done[r] = make(chan error, 1)
		if r.Flat == nil {
			q.left = append(q.left, r)
		} else {
			q.done[r] <- nil // it has a gradient
		}
	}
	each := (len(q.left) + lanes - 1) / lanes // falls to a lane, in calls of much the same size
	calls := max(1, (each+mostAtOnce-1)/mostAtOnce)
	q.most = (each + calls - 1) / calls
	return q
}

// work computes rows on the client of a set until none is left.
func (q *queue) work(set *Set, copied *parts, theta compute.Buffer, halves bool) {
	at, err := copied.of(set, theta)
	for rows := q.take(set); len(rows) > 0; rows = q.take(set) {
		done := err
		if done == nil {
			done = set.differentiate(at, halves, rows...)
		}
		for _, r := range rows {
			q.done[r] <- done
		}
	}
}

// take returns the next rows for a client, none if there are none left: one or, where a program
// takes more, some of the same loss. Rows whose batch the client can read in place come first.
func (q *queue) take(set *Set) []*Row {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.left) == 0 {
		return nil
	}
	place := func(r *Row) int {
		if r.Batch.on(set.Backend) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(q.left, func(a, b *Row) int { return place(a) - place(b) })
	first := q.left[0]
	rows := slices.DeleteFunc(slices.Clone(q.left), func(r *Row) bool { return r.Loss != first.Loss })
	rows = rows[:min(len(rows), q.most)]
	if !stacks(set, first.Loss, len(rows)) {
		rows = rows[:1]
	}
	q.left = slices.DeleteFunc(q.left, func(r *Row) bool { return slices.Contains(rows, r) })
	return rows
}

// Step makes a step of θ and the optimiser's state, the vectors, along d = Σ wᵢ·rowsᵢ and returns
// ‖d‖² over the shared parameters. If d is not finite, the vectors keep their values, and the
// result is not finite either. After a failure vectors that the device has are nil.
func (t *Trainer) Step(vectors []*compute.Buffer, w []float64, rows []compute.Buffer,
	scalars []float32) (float64, error) {
	if t.adam != nil {
		state, err := t.adam.hostValues(vectors)
		if err != nil {
			return 0, err
		}
		return t.adam.step(state, w, rows, scalars)
	}
	return t.step(vectors, w, rows, scalars)
}

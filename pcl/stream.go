package pcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// Batch is what a stream fills: up to len(Class) samples.
type Batch struct {
	X     []float32 // [len(Class)][inputs], row-major; images in [0,1]
	Class []int     // class ids
	N     int       // samples filled in: at least 1
	// Repeat says that these samples were in an earlier batch already (a later epoch), so that
	// the rehearsal memory counts them once.
	Repeat bool

	table []uint8 // the samples' own, if they have one (see [TableSamples])
	rows  []int32 // theirs in it; of the batch's size, nil where nobody asks
}

// read fills in N samples, the i-th of them sample at(i) of s.
func (b *Batch) read(s Samples, at func(i int) int) {
	width := len(b.X) / len(b.Class)
	for i := range b.N {
		b.Class[i] = s.Sample(at(i), b.X[i*width:(i+1)*width])
	}
	if t, ok := s.(TableSamples); ok && b.rows != nil {
		b.table = t.Table()
		for i := range b.N {
			b.rows[i] = int32(t.Row(at(i)))
		}
	}
}

// Stream delivers the training data of one task, batch by batch, and ends with io.EOF. The
// learner calls it from one goroutine at a time, one batch ahead of training.
type Stream interface {
	// Next fills in a batch, or puts slices of its own in the place of b.X and b.Class: they are copied
	// before it is called again. It returns io.EOF where there is no further batch, or together with the
	// last one. After any other error, a panic, or a batch that does not fit (of no samples, too many, too
	// few values, a class that is not the task's), nothing of the batch is used, [Learner.Step] says so in
	// a [StreamError], and the step after it calls Next again.
	Next(b *Batch) error
}

// Resumable is a stream whose position can be saved with a checkpoint and taken up again.
type Resumable interface {
	Stream
	State() (json.RawMessage, error)
	SetState(json.RawMessage) error
}

// Samples is a set of labelled samples that can be read in any order, also from several
// goroutines at once.
type Samples interface {
	Len() int
	// Sample writes the pixels of sample i, in [0,1], into x and returns its class id.
	Sample(i int, x []float32) (class int)
}

// NewStream returns a stream that passes over the samples the given number of times, each time in
// a new order drawn from the seed and the task id. Its last batch of an epoch may be short.
func NewStream(s Samples, epochs int, run uint64, task int) (Resumable, error) {
	if s.Len() == 0 || epochs < 1 {
		return nil, fmt.Errorf("pcl: a stream of %d samples for %d epochs; both must be positive", s.Len(), epochs)
	}
	st := &shuffled{samples: s, epochs: epochs, rng: seed.New(run, "stream", task)}
	st.order = st.rng.Perm(s.Len())
	return st, nil
}

// shuffled is a stream over [Samples].
type shuffled struct {
	samples Samples
	epochs  int
	rng     *seed.Source
	order   []int
	epoch   int
	next    int
}

func (s *shuffled) Next(b *Batch) error {
	if s.next == len(s.order) {
		if s.epoch+1 == s.epochs {
			return io.EOF
		}
		s.epoch++
		s.order, s.next = s.rng.Perm(len(s.order)), 0
	}
	b.N = min(len(b.Class), len(s.order)-s.next)
	b.Repeat = s.epoch > 0
	b.read(s.samples, func(i int) int { return s.order[s.next+i] })
	s.next += b.N
	return nil
}

// shuffledState is the position before the orders of later epochs are drawn: the current order
// follows from the generator's state at its beginning, but storing it is simpler and exact.
type shuffledState struct {
	Epoch int    `json:"epoch"`
	Next  int    `json:"next"`
	Order []int  `json:"order"`
	Rand  []byte `json:"rand"`
}

func (s *shuffled) State() (json.RawMessage, error) {
	rng, err := s.rng.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(shuffledState{Epoch: s.epoch, Next: s.next, Order: s.order, Rand: rng})
}

func (s *shuffled) SetState(data json.RawMessage) error {
	var st shuffledState
	if err := json.Unmarshal(data, &st); err != nil {
		return fmt.Errorf("pcl: stream state: %w", err)
	}
	if len(st.Order) != s.samples.Len() || st.Next < 0 || st.Next > len(st.Order) || st.Epoch < 0 || st.Epoch >= s.epochs {
		return errors.New("pcl: the stream state belongs to other samples: check that the data set is the one the run began with")
	}
	for _, i := range st.Order {
		if i < 0 || i >= len(st.Order) {
			return fmt.Errorf("pcl: stream state: sample %d of %d", i, len(st.Order))
		}
	}
	if err := s.rng.UnmarshalBinary(st.Rand); err != nil {
		return fmt.Errorf("pcl: stream state: %w", err)
	}
	s.epoch, s.next, s.order = st.Epoch, st.Next, st.Order
	return nil
}

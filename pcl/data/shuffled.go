package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// NewStream returns a stream that delivers all samples as many times as there are epochs, in each
// epoch in a new random order. The orders follow from runSeed, the seed of the run, and the id of
// the task. The last batch of an epoch may have fewer samples than the others.
func NewStream(s Samples, epochs int, runSeed uint64, task int) (Resumable, error) {
	if s == nil || s.Len() < 1 || epochs < 1 {
		return nil, fmt.Errorf("data: a stream for %d epochs of %T; want at least one epoch, and samples", epochs, s)
	}
	st := &shuffled{samples: s, epochs: epochs, rng: seed.New(runSeed, "stream", task)}
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
	b.Fill(s.samples, func(i int) int { return s.order[s.next+i] })
	s.next += b.N
	return nil
}

// shuffledState is the position of a stream. The order of the current epoch is stored as it is;
// Rand is the state of the generator from which the orders of the later epochs will be drawn.
type shuffledState struct {
	Epoch int    `json:"epoch"`
	Next  int    `json:"next"`
	Order []int  `json:"order"`
	Rand  []byte `json:"rand"`
}

func (s *shuffled) State() (json.RawMessage, error) {
	rng, _ := s.rng.MarshalBinary() // of two numbers there is no error
	return json.Marshal(shuffledState{Epoch: s.epoch, Next: s.next, Order: s.order, Rand: rng})
}

func (s *shuffled) SetState(data json.RawMessage) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("data: stream state: %w", err)
		}
	}()
	var st shuffledState
	if err := json.Unmarshal(data, &st); err != nil {
		return err
	}
	if st.Epoch >= s.epochs {
		return fmt.Errorf(
			"it is of epoch %d, counted from 0, and the stream has %d: make it with as many epochs as when it was saved",
			st.Epoch, s.epochs)
	}
	if len(st.Order) != s.samples.Len() || st.Next < 0 || st.Next > len(st.Order) || st.Epoch < 0 {
		return errors.New("it belongs to other samples: check that the data set is the one the run began with")
	}
	met := make([]bool, len(st.Order))
	for _, i := range st.Order {
		if i < 0 || i >= len(st.Order) || met[i] {
			return fmt.Errorf("it is damaged: sample %d of %d is there twice, or is none", i, len(st.Order))
		}
		met[i] = true
	}
	if err := s.rng.UnmarshalBinary(st.Rand); err != nil {
		return err
	}
	s.epoch, s.next, s.order = st.Epoch, st.Next, st.Order
	return nil
}

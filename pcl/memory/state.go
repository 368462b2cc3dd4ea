package memory

import (
	"fmt"
)

// State is a store without its pixels.
type State struct {
	Config Config `json:"config"`
	Task   []int  `json:"task"` // by item
	Class  []int  `json:"class"`
	Rand   []byte `json:"rand"`
	Order  []int  `json:"order,omitempty"`
	Next   int    `json:"next"`
}

// State returns what restores the store, together with [Store.Pixels].
func (s *Store) State() (State, error) {
	rng, err := s.rng.MarshalBinary()
	if err != nil {
		return State{}, err
	}
	out := State{Config: s.config, Rand: rng, Order: s.order, Next: s.next}
	for _, it := range s.items {
		out.Task = append(out.Task, it.Task)
		out.Class = append(out.Class, it.Class)
	}
	return out, nil
}

// Pixels returns all stored pixels, item after item.
func (s *Store) Pixels() []float32 { return Flatten(s.items) }

// Flatten joins the pixels of items.
func Flatten(items []Item) []float32 {
	var out []float32
	for _, it := range items {
		out = append(out, it.Pixels...)
	}
	return out
}

// Restore is the inverse of [Store.State] for samples of size pixels.
func Restore(st State, pixels []float32, size int) (*Store, error) {
	s, err := NewStore(st.Config, 0)
	if err != nil {
		return nil, err
	}
	n := len(st.Task)
	if len(st.Class) != n || len(pixels) != n*size {
		return nil, fmt.Errorf("memory: a damaged state: %d tasks, %d classes, %d pixels of %d each", n, len(st.Class), len(pixels), size)
	}
	if (st.Order != nil && len(st.Order) != n) || st.Next < 0 || st.Next > len(st.Order) {
		return nil, fmt.Errorf("memory: a damaged state: an order of %d for %d samples, at %d", len(st.Order), n, st.Next)
	}
	met := make([]bool, n)
	for _, i := range st.Order {
		if i < 0 || i >= n || met[i] {
			return nil, fmt.Errorf("memory: a damaged state: its order %v is no permutation of %d samples", st.Order, n)
		}
		met[i] = true
	}
	if err := s.rng.UnmarshalBinary(st.Rand); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	for i := range n {
		own := append([]float32(nil), pixels[i*size:(i+1)*size]...)
		s.items = append(s.items, Item{Task: st.Task[i], Class: st.Class[i], Pixels: own})
	}
	s.order, s.next = st.Order, st.Next
	return s, nil
}

package memory

import (
	"fmt"
)

// State is a store without its pixels and logits.
type State struct {
	Config Config `json:"config"`
	Task   []int  `json:"task"` // by item
	Class  []int  `json:"class"`
	Rand   []byte `json:"rand"`
	Order  []int  `json:"order,omitempty"`
	Next   int    `json:"next"`

	// Of every item; nil where they are all zero.
	Logits []int     `json:"logits,omitempty"` // their number
	Score  []float64 `json:"score,omitempty"`
	Edits  []int     `json:"edits,omitempty"`
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
		out.Logits = append(out.Logits, len(it.Logits))
		out.Score = append(out.Score, it.Score)
		out.Edits = append(out.Edits, it.Edits)
	}
	out.Logits, out.Score, out.Edits = unlessZero(out.Logits), unlessZero(out.Score), unlessZero(out.Edits)
	return out, nil
}

// unlessZero is x, or nil if it has no entry but 0.
func unlessZero[T int | float64](x []T) []T {
	for _, v := range x {
		if v != 0 {
			return x
		}
	}
	return nil
}

// Logits returns all stored logits, item after item.
func (s *Store) Logits() []float32 {
	var out []float32
	for _, it := range s.items {
		out = append(out, it.Logits...)
	}
	return out
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

// Restore is the inverse of [Store.State], [Store.Pixels] and [Store.Logits] for samples of size
// pixels.
func Restore(st State, pixels, logits []float32, size int) (*Store, error) {
	s, err := NewStore(st.Config, 0)
	if err != nil {
		return nil, err
	}
	n := len(st.Task)
	if len(st.Class) != n || len(pixels) != n*size {
		return nil, fmt.Errorf("memory: a damaged state: %d tasks, %d classes, %d pixels of %d each", n, len(st.Class), len(pixels), size)
	}
	for _, l := range []int{len(st.Logits), len(st.Score), len(st.Edits)} {
		if l != 0 && l != n {
			return nil, fmt.Errorf("memory: a damaged state: %d values for %d samples", l, n)
		}
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
		it := Item{Task: st.Task[i], Class: st.Class[i], Pixels: own}
		if st.Logits != nil {
			if l := st.Logits[i]; l < 0 || l > len(logits) {
				return nil, fmt.Errorf("memory: a damaged state: %d logits of sample %d, %d are left", l, i, len(logits))
			} else if l > 0 {
				it.Logits, logits = append([]float32(nil), logits[:l]...), logits[l:]
			}
		}
		if st.Score != nil {
			it.Score = st.Score[i]
		}
		if st.Edits != nil {
			it.Edits = st.Edits[i]
		}
		s.items = append(s.items, it)
	}
	if len(logits) != 0 {
		return nil, fmt.Errorf("memory: a damaged state: %d logits too many", len(logits))
	}
	s.order, s.next = st.Order, st.Next
	return s, nil
}

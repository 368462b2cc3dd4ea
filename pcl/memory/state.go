package memory

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
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
	Origin []int     `json:"origin,omitempty"` // the number of pixels kept from before the first edit
}

// State returns what restores the store, together with [Store.Pixels].
func (s *Store) State() (State, error) {
	rng, err := s.rng.MarshalBinary()
	if err != nil {
		return State{}, err
	}
	out := State{Config: s.config, Rand: rng, Order: slices.Clone(s.order), Next: s.next}
	for _, it := range s.items {
		out.Task = append(out.Task, it.Task)
		out.Class = append(out.Class, it.Class)
		out.Logits = append(out.Logits, len(it.Logits))
		out.Score = append(out.Score, it.Score)
		out.Edits = append(out.Edits, it.Edits)
		out.Origin = append(out.Origin, len(it.Origin))
	}
	out.Logits, out.Score = unlessZero(out.Logits), unlessZero(out.Score)
	out.Edits, out.Origin = unlessZero(out.Edits), unlessZero(out.Origin)
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

// Extras returns what else belongs to the state: all stored logits, then all pixels from before an edit,
// item after item.
func (s *Store) Extras() (logits, origin []float32) {
	for _, it := range s.items {
		logits, origin = append(logits, it.Logits...), append(origin, it.Origin...)
	}
	return logits, origin
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

// Restore is the inverse of [Store.State], [Store.Pixels] and [Store.Extras] for samples of size pixels.
func Restore(st State, pixels, logits, origin []float32, size int) (*Store, error) {
	s, err := NewStore(st.Config, 0)
	if err != nil {
		return nil, err
	}
	n := len(st.Task)
	if len(st.Class) != n || len(pixels) != n*size {
		return nil, fmt.Errorf("memory: a damaged state: %d tasks, %d classes, %d pixels of %d each", n, len(st.Class), len(pixels), size)
	}
	for _, l := range []int{len(st.Logits), len(st.Score), len(st.Edits), len(st.Origin)} {
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
		if it.Logits, logits, err = cut(st.Logits, i, logits); err != nil {
			return nil, err
		}
		if it.Origin, origin, err = cut(st.Origin, i, origin); err != nil {
			return nil, err
		}
		if n := len(it.Origin); n != 0 && n != size {
			return nil, fmt.Errorf("memory: a damaged state: %d pixels from before an edit, want %d", n, size)
		}
		if !it.finite() || !fp.Finite(it.Origin) {
			return nil, fmt.Errorf("memory: a damaged state: sample %d of class %d has a value that is not finite", i, it.Class)
		}
		if st.Score != nil {
			it.Score = st.Score[i]
		}
		if st.Edits != nil {
			it.Edits = st.Edits[i]
		}
		s.items = append(s.items, it)
	}
	if len(logits)+len(origin) != 0 {
		return nil, fmt.Errorf("memory: a damaged state: %d logits and %d old pixels too many", len(logits), len(origin))
	}
	s.order, s.next = slices.Clone(st.Order), st.Next
	return s, nil
}

// cut takes the values of item i off the front.
func cut(counts []int, i int, values []float32) (own, rest []float32, err error) {
	if counts == nil || counts[i] == 0 {
		return nil, values, nil
	}
	n := counts[i]
	if n < 0 || n > len(values) {
		return nil, nil, fmt.Errorf("memory: a damaged state: %d values of sample %d, %d are left", n, i, len(values))
	}
	return append([]float32(nil), values[:n]...), values[n:], nil
}

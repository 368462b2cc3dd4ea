package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// state is all that a store remembers, but for its arrays.
type state struct {
	Config Config `json:"config"`
	Task   []int  `json:"task"` // by item
	Class  []int  `json:"class"`
	Rand   []byte `json:"rand"`
	Order  []int  `json:"order,omitempty"`
	Next   int    `json:"next"`

	// Of every item; nil in old files where they are all zero.
	Logits []int     `json:"logits,omitempty"` // their number
	Score  []float64 `json:"score,omitempty"`
	Edits  []int     `json:"edits,omitempty"`
	Origin []int     `json:"origin,omitempty"` // the number of pixels kept from before the first edit
}

// State returns what restores the store, as JSON and three arrays, item after item: all pixels, all
// stored logits, and all pixels from before an edit.
func (s *Store) State() (json.RawMessage, map[string][]float32) {
	rng, _ := s.rng.MarshalBinary() // of two numbers there is no error
	out := state{Config: s.config, Rand: rng, Order: slices.Clone(s.order), Next: s.next}
	var logits, origins []float32
	for _, it := range s.items {
		out.Task, out.Class = append(out.Task, it.Task), append(out.Class, it.Class)
		out.Logits, out.Score = append(out.Logits, len(it.Logits)), append(out.Score, it.Score)
		out.Edits, out.Origin = append(out.Edits, it.Edits), append(out.Origin, len(it.Original))
		logits, origins = append(logits, it.Logits...), append(origins, it.Original...)
	}
	text, _ := json.Marshal(out) // of finite numbers there is no error
	return text, map[string][]float32{"memory": flatten(s.items), "memory/logits": logits, "memory/origin": origins}
}

func flatten(items []Item) []float32 {
	var out []float32
	for _, it := range items {
		out = append(out, it.Pixels...)
	}
	return out
}

// errDamaged is what Restore and RestoreReservoir say of a state that contradicts itself or its
// arrays.
var errDamaged = errors.New("memory: a damaged state")

// Restore is the inverse of [Store.State] for samples of size pixels. The budget may be another
// than that of the store which was saved: a smaller one thins the store out at once.
func Restore(text json.RawMessage, arrays map[string][]float32, c Config, size int) (*Store, error) {
	var st state
	if err := json.Unmarshal(text, &st); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	pixels, logits, origin := arrays["memory"], arrays["memory/logits"], arrays["memory/origin"]
	s, err := NewStore(st.Config, 0)
	if err == nil && st.Config.Policy != c.Policy {
		err = fmt.Errorf("memory: it was saved with the policy %q, which now is %q", st.Config.Policy, c.Policy)
	}
	if err != nil {
		return nil, err
	}
	n := len(st.Task)
	optional := func(length int) bool { return length == 0 || length == n }
	if len(st.Class) != n || len(pixels) != n*size || !optional(len(st.Order)) || st.Next < 0 || st.Next > len(st.Order) ||
		!optional(len(st.Logits)) || !optional(len(st.Score)) || !optional(len(st.Edits)) || !optional(len(st.Origin)) {
		return nil, errDamaged
	}
	for k, i := range slices.Sorted(slices.Values(st.Order)) {
		if k != i {
			return nil, errDamaged // it is not a permutation
		}
	}
	if err := s.rng.UnmarshalBinary(st.Rand); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	for i := range n {
		it := Item{Task: st.Task[i], Class: st.Class[i], Pixels: slices.Clone(pixels[i*size : (i+1)*size]),
			Score: at(st.Score, i), Edits: at(st.Edits, i)}
		var whole, old bool
		it.Logits, logits, whole = cut(at(st.Logits, i), logits)
		it.Original, origin, old = cut(at(st.Origin, i), origin)
		if !whole || !old || len(it.Original) != 0 && len(it.Original) != size || !it.finite() || !fp.Finite(it.Original) {
			return nil, fmt.Errorf("%w: sample %d of class %d lacks values, or has one that is not finite", errDamaged,
				i, it.Class)
		}
		s.items = append(s.items, it)
	}
	if len(logits)+len(origin) != 0 {
		return nil, errDamaged
	}
	s.order, s.next = st.Order, st.Next
	s.setBudget(c.Budget)
	return s, nil
}

// at is entry i of a list that is nil where all are zero.
func at[T any](list []T, i int) (x T) {
	if list != nil {
		x = list[i]
	}
	return x
}

// cut takes n values off the front, of which there must be as many.
func cut(n int, values []float32) (own, rest []float32, ok bool) {
	switch {
	case n == 0:
		return nil, values, true
	case n < 0 || n > len(values):
		return nil, values, false
	}
	return slices.Clone(values[:n]), values[n:], true
}

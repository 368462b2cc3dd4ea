package method

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// memo holds what a rule remembers about each stream, by stream id, and makes the rule that embeds it [Stateful] and a
// [Snapshotter]. check says what is wrong with an entry of a saved state. An entry that points to something also has a
// method clone, which copies it.
type memo[T interface{ check() error }] map[int]T

// begin makes the memo of a new method; see [started].
func (m *memo[T]) begin() { *m = memo[T]{} }

// End forgets a stream.
func (m memo[T]) End(id int) { delete(m, id) }

// Snapshot copies everything, and returns a function that goes back to the copy.
func (m *memo[T]) Snapshot() (restore func()) {
	kept := maps.Clone(*m)
	for id, t := range kept {
		if c, ok := any(t).(interface{ clone() T }); ok {
			kept[id] = c.clone()
		}
	}
	return func() { *m = kept }
}

// MarshalState writes everything; float64 values survive exactly.
func (m memo[T]) MarshalState() (json.RawMessage, error) { return json.Marshal(map[int]T(m)) }

// UnmarshalState reads what MarshalState wrote and checks every entry.
func (m *memo[T]) UnmarshalState(data json.RawMessage) error {
	read := memo[T]{}
	if err := jsonin.Unmarshal(data, (*map[int]T)(&read)); err != nil {
		return fmt.Errorf("its saved state: %w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(read)) {
		if err := read[id].check(); err != nil {
			return fmt.Errorf("its saved state: stream %d: %w", id, err)
		}
	}
	if read == nil { // null
		read.begin()
	}
	*m = read
	return nil
}

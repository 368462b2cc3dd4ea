package method

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// memo holds what a rule remembers about each stream, by stream id. A declaration that embeds it is its own method.
type memo[T any] map[int]T

// begin makes the memo of a new method; see [started].
func (m *memo[T]) begin() { *m = memo[T]{} }

// End forgets a stream.
func (m memo[T]) End(id int) { delete(m, id) }

// MarshalState writes everything; float64 values survive exactly.
func (m memo[T]) MarshalState() (json.RawMessage, error) { return json.Marshal(map[int]T(m)) }

// snapshot copies everything, and returns a function that goes back to the copy. clone copies what an entry points to.
func (m *memo[T]) snapshot(clone func(T) T) (restore func()) {
	kept := make(memo[T], len(*m))
	for id, t := range *m {
		kept[id] = clone(t)
	}
	return func() { *m = kept }
}

// restore reads what MarshalState wrote and checks every value.
func (m *memo[T]) restore(name string, data json.RawMessage, check func(T) error) error {
	read := map[int]T{}
	if err := jsonin.Unmarshal(data, &read); err != nil {
		return fmt.Errorf("method %s: its saved state: %w", name, err)
	}
	for _, id := range slices.Sorted(maps.Keys(read)) {
		if err := check(read[id]); err != nil {
			return fmt.Errorf("method %s: its saved state: stream %d: %w", name, id, err)
		}
	}
	if read == nil {
		read = map[int]T{}
	}
	*m = read
	return nil
}

package method

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// memo holds what a rule remembers about each stream, by stream id, and makes the rule that embeds
// it [Stateful]. An entry is a number or a map with a method check, or a struct, whose fields are
// numbers and vectors with a tag "range".
type memo[T any] map[int]T

// remember makes the memo of a new method; see [begin].
func (m *memo[T]) remember() {
	if *m == nil {
		*m = memo[T]{}
	}
}

// End forgets a stream. If remembered entries refer to other streams, those references to the
// stream that ended are removed too.
func (m memo[T]) End(id int) {
	delete(m, id)
	for of, entry := range m {
		if e, ok := any(entry).(interface{ without(of, ended int) T }); ok {
			m[of] = e.without(of, id)
		}
	}
}

// Snapshot copies everything, and returns a function that goes back to the copy.
func (m *memo[T]) Snapshot() (restore func()) {
	kept := maps.Clone(*m)
	for id := range kept {
		kept[id] = cloned(kept[id])
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
		if err := checkEntry(read[id]); err != nil {
			return fmt.Errorf("its saved state: stream %d: %w", id, err)
		}
	}
	if read == nil { // null
		read = memo[T]{}
	}
	*m = read
	return nil
}

// cloned is a copy of an entry that shares no vector and no map with it.
func cloned[T any](entry T) T {
	if c, ok := any(entry).(interface{ clone() T }); ok {
		return c.clone()
	}
	v := reflect.ValueOf(&entry).Elem()
	for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
		if x, ok := v.Field(i).Interface().(vector); ok {
			v.Field(i).Set(reflect.ValueOf(slices.Clone(x)))
		}
	}
	return entry
}

// checkEntry returns an error if a number is out of its range, or if a vector was not saved or has
// a number out of range.
func checkEntry(entry any) (err error) {
	if c, ok := entry.(interface{ check() error }); ok {
		return c.check()
	}
	v := reflect.ValueOf(entry)
	for i := 0; err == nil && i < v.NumField(); i++ {
		tag := v.Type().Field(i).Tag
		switch x := v.Field(i).Interface().(type) {
		case float64:
			err = params.CheckRange(x, tag.Get("range"))
		case int:
			err = params.CheckRange(float64(x), tag.Get("range"))
		case vector:
			if err = errors.New("want a vector"); len(x) > 0 {
				err = params.CheckRange(float64(slices.Min(x)), tag.Get("range"))
			}
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", tag.Get("json"), err)
		}
	}
	return err
}

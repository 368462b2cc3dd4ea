package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// weightState is the state of a method after some problems: what it remembers of the streams, and the state of its
// random numbers.
type weightState struct {
	Method string          `json:"method"`
	Rand   []byte          `json:"rand"`
	State  json.RawMessage `json:"state,omitempty"`
}

// load restores the state in a file. If there is no such file, the method starts without a state.
func (w *weigher) load(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var s weightState
	if err := jsonin.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%s is not a state file of pcl weights: %w", path, err)
	}
	if name := w.method.Info().Name; s.Method != name {
		return fmt.Errorf("%s holds the state of %q, not of %s", path, s.Method, name)
	}
	if err := w.rng.UnmarshalBinary(s.Rand); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if m, ok := method.As[method.Stateful](w.method); ok {
		if err := m.UnmarshalState(s.State); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (w *weigher) save(path string) error {
	s := weightState{Method: w.method.Info().Name}
	var err error
	if s.Rand, err = w.rng.MarshalBinary(); err != nil {
		return err
	}
	if m, ok := method.As[method.Stateful](w.method); ok {
		if s.State, err = m.MarshalState(); err != nil {
			return err
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

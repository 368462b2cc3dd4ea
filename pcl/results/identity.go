package results

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Of checks that the run belongs to a configuration, given as JSON with its ID. An error says what differs.
func (r *Run) Of(id string, config json.RawMessage) error {
	own, err := settingsOf(r.Config)
	if err != nil {
		return fmt.Errorf("its configuration cannot be read: %w", err)
	}
	want, err := settingsOf(config)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	names := Differing(own, want)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%.13s, not %.13s)", name, own[name], want[name]) // a checksum's beginning is enough
	}
	switch {
	case len(names) > 0:
		return fmt.Errorf("its configuration has another %s", strings.Join(names, ", "))
	case r.ID != id:
		return fmt.Errorf("its id is %s, this run's is %s", r.ID, id)
	}
	return nil
}

package results

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Of checks that the run belongs to a configuration, given as JSON with its ID. An error says what differs.
func (r *Run) Of(id string, config json.RawMessage) error {
	want, err := settingsOf(config)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	own, err := settingsOf(r.Config)
	if err != nil {
		return fmt.Errorf("its configuration cannot be read: %w", err)
	}
	names := Differing(own, want)
	for i, name := range names {
		if a, b := brief(own[name]), brief(want[name]); len(a) > 0 && len(b) > 0 && len(a)+len(b) < 60 {
			names[i] = fmt.Sprintf("%s (%s, not %s)", name, a, b)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("its configuration has another %s", strings.Join(names, ", "))
	}
	if r.ID != id {
		return fmt.Errorf("its id is %s, this run's is %s", r.ID, id)
	}
	return r.consistent(own)
}

// brief shortens a checksum.
func brief(value string) string {
	if len(value) == 64 {
		return value[:12] + "…"
	}
	return value
}

// consistent checks that the file does not contradict itself where it says something twice.
func (r *Run) consistent(config map[string]string) error {
	for name, value := range map[string]any{
		"method": r.Method, "dataset": r.Dataset, "increment": r.Increment, "labelset": r.LabelSet, "timeline": r.Timeline, "seed": r.Seed,
	} {
		if own, ok := config[name]; ok && own != fmt.Sprint(value) {
			return fmt.Errorf("its %s is %v, its configuration says %s", name, value, own)
		}
	}
	return nil
}

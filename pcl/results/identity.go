package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Of checks that the run belongs to a configuration, given as JSON with its ID. An error says what differs.
func (r *Run) Of(id string, config json.RawMessage) error {
	var own, want map[string]json.RawMessage
	if err := json.Unmarshal(config, &want); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if err := json.Unmarshal(r.Config, &own); err != nil {
		return fmt.Errorf("its configuration is none: %w", err)
	}
	if names := differing(own, want); len(names) > 0 {
		return fmt.Errorf("its configuration has another %s", strings.Join(names, ", "))
	}
	if r.ID != id {
		return fmt.Errorf("its id is %s, this run's is %s", r.ID, id)
	}
	return r.consistent(own)
}

// differing names the settings that differ, with their values if these are short.
func differing(own, want map[string]json.RawMessage) []string {
	all := map[string]json.RawMessage{}
	maps.Copy(all, own)
	maps.Copy(all, want)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, b := compact(own[name]), compact(want[name])
		if a == b {
			continue
		}
		if a, b = brief(a), brief(b); len(a) > 0 && len(b) > 0 && len(a)+len(b) < 60 {
			name = fmt.Sprintf("%s (%s, not %s)", name, a, b)
		}
		names = append(names, name)
	}
	return names
}

// brief shortens a checksum.
func brief(value string) string {
	if sum := strings.Trim(value, `"`); len(sum) == 64 {
		return sum[:12] + "…"
	}
	return value
}

// compact is a value without spaces, the keys of its objects sorted.
func compact(value json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber() // seeds beyond 2⁵³ stay as they are
	var v any
	if d.Decode(&v) != nil {
		return string(value)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(value)
	}
	return string(text)
}

// consistent checks that the file does not contradict itself where it says something twice.
func (r *Run) consistent(config map[string]json.RawMessage) error {
	for name, value := range map[string]any{
		"method": r.Method, "dataset": r.Dataset, "increment": r.Increment, "labelset": r.LabelSet, "timeline": r.Timeline, "seed": r.Seed,
	} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if own, ok := config[name]; ok && compact(own) != string(text) {
			return fmt.Errorf("its %s is %s, its configuration says %s", name, text, own)
		}
	}
	return nil
}

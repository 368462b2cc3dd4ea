package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Repetition lists the settings in which the repetitions of one experiment differ. Runs that differ in anything
// else are different experiments, and have no mean in common.
var Repetition = []string{"seed", "labelset", "timeline", "scenario"}

// Settings returns the configuration of a run as names and values, such as "memory.budget" and "5", without the
// named ones. A run of unknown configuration has none.
func (r *Run) Settings(without ...string) map[string]string {
	out := map[string]string{}
	d := json.NewDecoder(bytes.NewReader(r.Config))
	d.UseNumber() // seeds beyond 2⁵³ stay as they are
	var config map[string]any
	if d.Decode(&config) != nil {
		return out
	}
	flatten(out, "", config)
	maps.DeleteFunc(out, func(name, _ string) bool {
		return slices.ContainsFunc(without, func(w string) bool { return name == w || strings.HasPrefix(name, w+".") })
	})
	return out
}

func flatten(out map[string]string, prefix string, value any) {
	if m, ok := value.(map[string]any); ok {
		for name, v := range m {
			flatten(out, strings.TrimPrefix(prefix+"."+name, "."), v)
		}
		return
	}
	if text, ok := value.(string); ok {
		out[prefix] = text
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte(fmt.Sprint(value))
	}
	out[prefix] = string(text)
}

// Differing returns, sorted, the names that have other values in some of the settings than in the first.
func Differing(all ...map[string]string) []string {
	if len(all) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, s := range all[1:] {
		for _, other := range []map[string]string{s, all[0]} {
			for name := range other {
				if s[name] != all[0][name] {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

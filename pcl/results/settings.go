package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Repetition lists the settings in which the repetitions of one experiment differ. Runs that differ
// in anything else are different experiments, and have no mean in common.
var Repetition = []string{"seed", "labelset", "timeline", "scenario"}

// Settings returns the configuration of a run as names and values, such as "memory.budget" and "5",
// without the named ones. A run of unknown configuration has none.
func (r *Run) Settings(without ...string) map[string]string {
	out := map[string]string{}
	d := json.NewDecoder(bytes.NewReader(r.Config))
	d.UseNumber() // seeds beyond 2⁵³ stay as they are
	var values map[string]any
	if d.Decode(&values) == nil {
		flatten(out, "", values)
	}
	maps.DeleteFunc(out, func(name, _ string) bool {
		return slices.ContainsFunc(without, func(w string) bool { return name == w || strings.HasPrefix(name, w+".") })
	})
	return out
}

// OwnScenario returns the beginning of a checksum of the scenario of a run that was written by
// hand; it is empty for one that follows from a label set and a timeline. Runs of different
// scenarios are of different situations.
func (r *Run) OwnScenario() string {
	settings := r.Settings()
	h, played := sha256.New(), false
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if strings.HasPrefix(name, "scenario.") {
			played = true
			if name != "scenario.increment" && name != "scenario.dataset" { // which a run has by themselves
				fmt.Fprintf(h, "%s=%s\n", name, settings[name])
			}
		}
	}
	if !played {
		return ""
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)[:6])
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

// Differing returns, sorted, the names that have other values in some of the settings than in the
// first.
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

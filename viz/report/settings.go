package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// setting is runs that one figure may compare: they differ in method and parameters, and in what
// repeats an experiment: run seed, label set and timeline.
type setting struct {
	Title  string
	config map[string]string
	files  []RunFile
}

func (s *setting) runs() []runPtr {
	var out []runPtr
	for _, f := range s.files {
		out = append(out, f.Run)
	}
	return out
}

// settingsOf sorts runs by setting, in order of first appearance, and names the settings by what
// sets them apart.
func settingsOf(files []RunFile) []*setting {
	var out []*setting
	for _, f := range files {
		config := settingConfig(f.Run)
		i := slices.IndexFunc(out, func(s *setting) bool { return maps.Equal(s.config, config) })
		if i < 0 {
			i = len(out)
			out = append(out, &setting{Title: settingTitle(f.Run), config: config})
		}
		out[i].files = append(out[i].files, f)
	}
	tellSettingsApart(out)
	return out
}

func settingTitle(r runPtr) string { return r.Dataset + ", " + r.Increment + "-incremental" }

// settingConfig is the configuration as names and values, without what differs within a setting.
// Editing is told by the run's variant.
func settingConfig(r runPtr) map[string]string {
	out := map[string]string{"dataset": r.Dataset, "increment": r.Increment, "variant": r.Variant}
	d := json.NewDecoder(bytes.NewReader(r.Config))
	d.UseNumber() // large seeds stay as they are
	var config map[string]any
	if d.Decode(&config) != nil {
		return out
	}
	for _, name := range []string{"method", "params", "seed", "labelset", "timeline", "scenario", "eval_every", "edit", "extra_update"} {
		delete(config, name)
	}
	flatten(out, "", config)
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

// tellSettingsApart adds to equal titles what differs.
func tellSettingsApart(all []*setting) {
	byTitle := map[string][]*setting{}
	for _, s := range all {
		byTitle[s.Title] = append(byTitle[s.Title], s)
	}
	for _, same := range byTitle {
		names := differing(same)
		for _, s := range same {
			for _, name := range names {
				switch value := s.config[name]; {
				case name == "variant" && value == "":
				case name == "variant":
					s.Title += ", " + value
				case value != "":
					s.Title += ", " + name + " " + value
				}
			}
		}
	}
}

// differing returns the names that settings have other values of.
func differing(all []*setting) []string {
	names := map[string]bool{}
	for _, s := range all[1:] {
		for _, other := range []map[string]string{s.config, all[0].config} {
			for name := range other {
				if s.config[name] != all[0].config[name] {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// facts lists the configuration.
func (s *setting) facts() []fact {
	var out []fact
	for _, name := range slices.Sorted(maps.Keys(s.config)) {
		if s.config[name] != "" {
			out = append(out, fact{name, s.config[name]})
		}
	}
	return out
}

package report

import (
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// setting is runs that one figure may compare: they differ in method and parameters, and in what
// repeats an experiment: run seed, label set and timeline.
type setting struct {
	Title  string
	config map[string]string
	files  []RunFile
	groups []viz.Group
}

func (s *setting) runs() []runPtr { return runsIn(s.files) }

func runsIn(files []RunFile) (out []runPtr) {
	for _, f := range files {
		out = append(out, f.Run)
	}
	return out
}

// settingsOf sorts runs by setting, in order of first appearance, and names the settings by what
// sets them apart.
func settingsOf(files []RunFile) (out []*setting, err error) {
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
	for _, s := range out {
		if s.groups, err = viz.Groups(s.runs()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func settingTitle(r runPtr) string { return r.Dataset + ", " + r.Increment + "-incremental" }

// settingConfig is the configuration as names and values, without what differs within a setting.
// Editing, an extra update and the network that a run began with are told by the run's variant.
func settingConfig(r runPtr) map[string]string {
	out := r.Settings(append([]string{"method", "params", "eval_every", "edit", "extra_update", "init"}, results.Repetition...)...)
	out["dataset"], out["increment"], out["variant"] = r.Dataset, r.Increment, r.Variant
	if own := r.OwnScenario(); own != "" { // its tasks have no mean in common with those of another one
		out["scenario"] = own
	}
	return out
}

// tellSettingsApart adds to equal titles what differs.
func tellSettingsApart(all []*setting) {
	byTitle := map[string][]*setting{}
	for _, s := range all {
		byTitle[s.Title] = append(byTitle[s.Title], s)
	}
	for _, same := range byTitle {
		var configs []map[string]string
		for _, s := range same {
			configs = append(configs, s.config)
		}
		names := results.Differing(configs...)
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

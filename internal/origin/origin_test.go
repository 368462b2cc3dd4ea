package origin

import (
	"runtime/debug"
	"testing"
)

// TestBuilt: pcl is known by its release or commit, so that it may be built again; other programs
// by what they are.
func TestBuilt(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}
	changed := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}
	for name, test := range map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"a release": {debug.BuildInfo{Path: module + "/cmd/pcl", Main: debug.Module{Path: module, Version: "v1.2.3"}},
			"v1.2.3"},
		"a commit": {debug.BuildInfo{Path: module + "/cmd/pcl",
			Main: debug.Module{Path: module, Version: "v0.0.0-1-a"}, Settings: commit}, "commit-abc"},
		"changes": {debug.BuildInfo{Path: module + "/cmd/pcl",
			Main: debug.Module{Path: module, Version: "v1.2.3+dirty"}, Settings: changed}, ""},
		"nothing known": {debug.BuildInfo{Path: module + "/cmd/pcl", Main: debug.Module{Path: module, Version: "(devel)"}},
			""},
		"another command": {debug.BuildInfo{Path: module + "/examples/own",
			Main: debug.Module{Path: module, Version: "v1.2.3"}, Settings: commit}, ""},
		"a program of own": {debug.BuildInfo{Path: "example.org/a",
			Main: debug.Module{Path: "example.org/a", Version: "v1.2.3"}, Settings: commit}, ""},
	} {
		if got := built(&test.info); got != test.want {
			t.Errorf("%s is %q, want %q", name, got, test.want)
		}
	}
}

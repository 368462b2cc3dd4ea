package experiment

import "runtime/debug"

// Module is the path of this module.
const Module = "github.com/parallelcl/parallelcl"

// Version returns the version and the commit that the program was built from, as far as the build has recorded them.
// Those of a program of another module, which has parts of its own, begin with its path.
func Version() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "unknown"
	}
	version, commit = info.Main.Version, "unknown"
	if info.Main.Path != Module && info.Main.Path != "" {
		version = info.Main.Path + "@" + version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				commit += "+changes"
			}
		}
	}
	return version, commit
}

package experiment

import "runtime/debug"

// Version returns the module's version and the commit that the program was built from, as far as the build has
// recorded them.
func Version() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "unknown"
	}
	version, commit = info.Main.Version, "unknown"
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

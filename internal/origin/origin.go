// Package origin says which code this program is, so that what other code has computed is not taken
// for its own.
package origin

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
)

const module = "github.com/parallelcl/parallelcl"

// Version returns the version and the commit that the program was built from, as far as the build
// has recorded them. The version of a program of another module, which has parts of its own, begins
// with that module's path.
func Version() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) (version, commit string) {
	version, commit = info.Main.Version, "unknown"
	if info.Main.Path != module && info.Main.Path != "" {
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

// Program returns what tells this program from others that may compute something else. For pcl it
// is the version if it was built from a release, or else the commit. If the build has recorded
// neither, or the files differed from the commit, or it is another program, which may have parts of
// its own, it is a hash of the program itself. The host of a notebook's cells puts another function
// in its place, since cells keep adding code to their program.
var Program = func() (string, error) { return thisProgram() }

// CellMark stands in the name of a notebook's program after that of the module, before a hash of
// what cells have registered.
const CellMark = "+cells-"

var thisProgram = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if name := built(info); name != "" {
			return name, nil
		}
	}
	sum, err := sumOfThis()
	if err != nil {
		return "", fmt.Errorf("which program is this? %w", err)
	}
	return "build-" + sum, nil
})

var release = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// built names a program by the source that it was built from; "" if that is not known.
func built(info *debug.BuildInfo) string {
	version, commit := versionOf(info)
	switch {
	case info.Path != module+"/cmd/pcl":
		return inStock(info)
	case release.MatchString(version):
		return version
	case commit != "unknown" && !strings.HasSuffix(commit, "+changes"):
		return "commit-" + commit
	}
	return ""
}

// sumOfThis is a hash of the file that this program was started from.
func sumOfThis() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
}

// inStock names the program of a cell in stock GoNB, where each cell is another program: by the
// module, which all share, and for what this one may register by itself. It is "" for programs that
// are no cells.
func inStock(info *debug.BuildInfo) string {
	if os.Getenv("GONB_PIPE") == "" {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == module {
			if sum, err := sumOfThis(); err == nil {
				return moduleName(m) + CellMark + sum
			}
		}
	}
	return ""
}

// moduleName is the version of a module or, if it lies in a folder, a hash of its source.
func moduleName(m *debug.Module) string {
	if m.Replace == nil || !filepath.IsAbs(m.Replace.Path) {
		return m.Version
	}
	return "source-" + SourceSum(m.Replace.Path)
}

package origin

import (
	"os"
	"path/filepath"
	"runtime/debug"
)

// inStock names the program of a cell in stock GoNB, where each cell is another program: by the module, which all share, and
// for what this one may register by itself. It is "" for programs that are no cells.
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

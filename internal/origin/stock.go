package origin

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// inStock names the program of a cell in stock GoNB, where each cell is another program: by the module, which all share, and
// for what this one may register by itself. It is "" for programs that are no cells.
func inStock(info *debug.BuildInfo) string {
	sum, err := sumOfThis()
	for _, m := range info.Deps {
		if m.Path == module && os.Getenv("GONB_PIPE") != "" && err == nil {
			return moduleName(m) + CellMark + sum
		}
	}
	return ""
}

// moduleName is the version of a module or, if it lies in a folder, a hash of its source.
func moduleName(m *debug.Module) string {
	if m.Replace == nil || !filepath.IsAbs(m.Replace.Path) {
		return m.Version
	}
	return "source-" + sourceSum(m.Replace.Path)
}

// sourceSum is a hash of the Go code in a folder, without tests.
func sourceSum(folder string) string {
	sum := sha256.New()
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case err != nil:
			return nil
		case d.IsDir() && path != folder && (name == "testdata" || name == "runs" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" && name != "go.mod":
			return nil
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %x %v\n", strings.TrimPrefix(path, folder), sha256.Sum256(data), err != nil)
		return nil
	})
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
}

package origin

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// CellMark stands in the name of a notebook's program before the hash of what its cells register; before it is the module's.
const CellMark = "+cells-"

// cell is set by the linker in the program of a notebook's cell, by internal/kernel/shim: what [Program] returns.
var cell string

var registered atomic.Pointer[string]

// SetCells tells what the cells of a notebook have registered, as a hash of their code and of all that it uses. A kernel that
// runs cells in one program calls it before each cell; otherwise a registered method that was changed passes for the old one.
func SetCells(sum string) { registered.Store(&sum) }

// inCell names the program of a notebook's cell in a kernel that does not name it: by the module, which all cells share, and
// for what it may register by itself.
func inCell(info *debug.BuildInfo, sum string) string {
	for _, m := range info.Deps {
		if m.Path == module && os.Getenv("GONB_PIPE") != "" {
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

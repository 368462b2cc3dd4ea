package origin

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fingerprint is a hash of the names, sizes and times of the files that a module's packages consist
// of, without tests. It takes some milliseconds.
func Fingerprint(module string) string {
	return hashOf(module, func(w io.Writer, path string, d fs.DirEntry) {
		if info, err := d.Info(); err == nil {
			fmt.Fprint(w, info.Size(), info.ModTime().UnixNano())
		}
	})
}

// SourceSum is a hash of these files.
func SourceSum(module string) string {
	return hashOf(module, func(w io.Writer, path string, _ fs.DirEntry) {
		data, err := os.ReadFile(path)
		fmt.Fprint(w, sha256.Sum256(data), err != nil)
	})
}

// hashOf hashes the names of the files, and what describe writes about each. A package may consist
// of all that lies beside Go files and, since it can embed that, in folders below them.
func hashOf(module string, describe func(w io.Writer, path string, d fs.DirEntry)) string {
	sum := sha256.New()
	isGo := func(d fs.DirEntry) bool { return filepath.Ext(d.Name()) == ".go" }
	var walk func(dir string, within bool)
	walk = func(dir string, within bool) {
		entries, _ := os.ReadDir(dir) // the build says what can't be read
		within = within || slices.ContainsFunc(entries, isGo)
		for _, d := range entries {
			path := filepath.Join(dir, d.Name())
			switch {
			case d.IsDir() && !notSource(path):
				walk(path, within && dir != module)
			case !d.IsDir() && (within && !notCode(d.Name()) || d.Name() == "go.mod"):
				fmt.Fprintln(sum, strings.TrimPrefix(path, module))
				describe(sum, path, d)
			}
		}
	}
	walk(module, false)
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
}

// notCode says whether a file beside Go files is no part of a package.
func notCode(name string) bool {
	return strings.HasSuffix(name, "_test.go") || slices.Contains([]string{".md", ".ipynb"}, filepath.Ext(name))
}

// notSource says whether a folder holds no package of the module.
func notSource(dir string) bool {
	name := filepath.Base(dir)
	if name == "testdata" || name == "runs" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

package origin

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Fingerprint is a hash of the names, sizes and times of a module's Go files, without tests. It
// takes some milliseconds.
func Fingerprint(module string) string {
	return hashOf(module, func(w io.Writer, path string, d fs.DirEntry) {
		if info, err := d.Info(); err == nil {
			fmt.Fprint(w, info.Size(), info.ModTime().UnixNano())
		}
	})
}

// SourceSum is a hash of a module's Go code, without tests.
func SourceSum(module string) string {
	return hashOf(module, func(w io.Writer, path string, _ fs.DirEntry) {
		data, err := os.ReadFile(path)
		fmt.Fprint(w, sha256.Sum256(data), err != nil)
	})
}

// hashOf hashes the names of a module's Go files, and what describe writes about each.
func hashOf(module string, describe func(w io.Writer, path string, d fs.DirEntry)) string {
	sum := sha256.New()
	_ = filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // the build says what can't be read
		case d.IsDir() && path != module && notSource(path):
			return filepath.SkipDir
		case !d.IsDir() && !strings.HasSuffix(path, "_test.go") && (filepath.Ext(path) == ".go" || d.Name() == "go.mod"):
			fmt.Fprintln(sum, strings.TrimPrefix(path, module))
			describe(sum, path, d)
		}
		return nil
	})
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
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

// Package texts checks that documents and comments cite only what is there, and which package
// imports which.
package texts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

const root = "../.."

// sources returns the paths of all files of the repository.
func sources(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	must.Do(t, err)
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(root, path)))(t)
	return string(data)
}

// TestNamedFilesExist: every file and folder that a document names in backticks is there.
func TestNamedFilesExist(t *testing.T) {
	paths := sources(t)
	named := regexp.MustCompile(
		"`((?:[a-z.][\\w.-]*/)*[\\w.-]+\\.(?:go|md|sh|py|ipynb|txtar)|\\.?[a-z][\\w.-]*/[\\w./-]*)`")
	count := 0
	for _, file := range paths {
		if file != "README.md" && file != "CONTRIBUTING.md" &&
			!(strings.HasPrefix(file, "docs/") && strings.HasSuffix(file, ".md")) {
			continue
		}
		for _, name := range named.FindAllStringSubmatch(read(t, file), -1) {
			count++
			if !contains(paths, name[1]) && !folder(paths, name[1]) {
				t.Errorf("%s names %s, which is not there", file, name[1])
			}
		}
	}
	if count < 80 {
		t.Fatalf("only %d files are named", count)
	}
}

// contains says whether a file has a path, or a path that ends with it.
func contains(paths []string, name string) bool {
	for _, p := range paths {
		if p == name || strings.HasSuffix(p, "/"+name) {
			return true
		}
	}
	return false
}

// Package texts checks that the texts name only what is there.
package texts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// sources returns the paths of all files of the repository, and the text of all Go tests.
func sources(t *testing.T) (paths []string, tests string) {
	t.Helper()
	var text strings.Builder
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
		if err == nil && strings.HasSuffix(path, "_test.go") {
			var data []byte
			data, err = os.ReadFile(path)
			text.Write(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths, text.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestNamedTestsExist: faults.md names a test for each fault.
func TestNamedTestsExist(t *testing.T) {
	paths, tests := sources(t)
	text := read(t, "docs/faults.md")
	names := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`).FindAllString(text, -1)
	if len(names) < 50 {
		t.Fatalf("only %d tests are named", len(names))
	}
	for _, name := range names {
		if !strings.Contains(tests, "func "+name+"(") {
			t.Errorf("faults.md names %s, which is not there", name)
		}
	}
	for _, name := range regexp.MustCompile(`\b\w+\.txtar\b`).FindAllString(text, -1) {
		if !contains(paths, "cmd/pcl/testdata/"+name) {
			t.Errorf("faults.md names %s, which is not there", name)
		}
	}
}

// TestNamedFilesExist: the map of the house leads to files that are there.
func TestNamedFilesExist(t *testing.T) {
	paths, _ := sources(t)
	names := regexp.MustCompile("`([a-z0-9_./-]+\\.(?:go|md|sh|py))`").FindAllStringSubmatch(read(t, "CONTRIBUTING.md"), -1)
	if len(names) < 10 {
		t.Fatalf("only %d files are named", len(names))
	}
	for _, name := range names {
		if !contains(paths, name[1]) {
			t.Errorf("CONTRIBUTING.md names %s, which is not there", name[1])
		}
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

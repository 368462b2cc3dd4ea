package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnored: what git ignores is not sent to the build of an image. Patterns of .dockerignore are
// for the root alone, unless **/ is before them.
func TestIgnored(t *testing.T) {
	var want []string
	for _, p := range patterns(t, ".gitignore") {
		inRoot, isRoot := strings.CutPrefix(strings.TrimSuffix(p, "/"), "/")
		if !isRoot {
			inRoot = "**/" + inRoot
		}
		want = append(want, inRoot)
	}
	if got := patterns(t, ".dockerignore"); !slices.Equal(got, want) {
		t.Errorf(".dockerignore has %q; want %q, as .gitignore has", got, want)
	}
}

func patterns(t *testing.T, name string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

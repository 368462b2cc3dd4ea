package origin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestFingerprint: all files of which packages consist count, with what they embed, and no others.
func TestFingerprint(t *testing.T) {
	module := t.TempDir()
	write := func(t *testing.T, name, text string) {
		t.Helper()
		file := filepath.Join(module, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write(t, "go.mod", "module m\n")
	write(t, "a/a.go", "package a\n")
	for name, counts := range map[string]bool{
		"a/b.go": true, "a/a_amd64.s": true, "a/a.h": true, "a/page.js": true, "a/fonts/f.woff": true, "a/go.sum": true,
		"a/a_test.go": false, "a/notes" + ".md": false, "a/b.ipynb": false, "a/testdata/x.json": false,
		"a/runs/r.json": false,
		"a/.git/x":      false, "README": false, "docs/x.txt": false, "notebooks/a.csv": false,
	} {
		t.Run(name, func(t *testing.T) {
			before, sum := Fingerprint(module), SourceSum(module)
			write(t, name, "1")
			if now, nowSum := Fingerprint(module), SourceSum(module); (now != before) != counts || (nowSum != sum) != counts {
				t.Errorf("fingerprint %s, then %s; sum %s, then %s; want others: %t", before, now, sum, nowSum, counts)
			}
			before, sum = Fingerprint(module), SourceSum(module)
			write(t, name, "22")
			if now, nowSum := Fingerprint(module), SourceSum(module); (now != before) != counts || (nowSum != sum) != counts {
				t.Errorf("changed: %s, then %s; sum %s, then %s; want others: %t", before, now, sum, nowSum, counts)
			}
		})
	}
}

package archive_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/internal/archive"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// FuzzUnpack checks that no archive, however made, writes outside of its folder.
func FuzzUnpack(f *testing.F) {
	var t testing.T
	f.Add(tarOf(&t, member{name: "toy/a", data: []byte("a")}, member{name: "../b"}))
	f.Add(zipOf(&t, member{name: "toy/a", data: []byte("a")}, member{name: "toy/d/b", data: []byte("b")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		dir, file := filepath.Join(parent, "in"), filepath.Join(parent, "archive")
		writeFile(t, file, data)
		must.Do(t, os.Mkdir(dir, 0o755))
		_ = archive.Unpack(t.Context(), file, keepAll, dir, archive.Limits{Bytes: 1 << 16, Members: 100})
		entries, err := os.ReadDir(parent)
		if err != nil || len(entries) != 2 {
			t.Errorf("beside the folder and the archive: %v, %v", entries, expect.Text(err))
		}
	})
}

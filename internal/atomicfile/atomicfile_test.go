package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// only checks that a folder holds one file of the given content, and no temporary ones.
func only(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, expect.Text(err), want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v (%v), want the one file", entries, expect.Text(err))
	}
}

func TestWrite(t *testing.T) {
	for _, name := range []string{"a*b.json", strings.Repeat("a", 255), strings.Repeat("語", 85)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "folders", name)
			for _, content := range []string{"first and longer", "second", ""} {
				if err := WriteBytes(path, []byte(content)); err != nil {
					t.Fatal(err)
				}
				only(t, path, content)
			}
		})
	}
}

// TestErrorLeavesOldFile fails after more than a buffer has been written.
func TestErrorLeavesOldFile(t *testing.T) {
	path, broken := filepath.Join(t.TempDir(), "file"), errors.New("broken")
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1<<20))
		return errors.Join(err, broken)
	})
	expect.Refusal(t, "Write", err, broken, path)
	only(t, path, "old")
}

// TestCheck: Check finds files that cannot be written, and changes nothing.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, filepath.Join(dir, "new"), filepath.Join(dir, "deep", "new"), os.DevNull} {
		t.Run(path, func(t *testing.T) {
			if err := Check(path); err != nil {
				t.Error(err)
			}
		})
	}
	for _, path := range []string{dir, filepath.Join(old, "below"), filepath.Join(dir, "deep") + "/"} {
		t.Run(path, func(t *testing.T) {
			if err := Check(path); err == nil || WriteBytes(path, nil) == nil {
				t.Error("no error")
			}
		})
	}
	if err := os.Remove(filepath.Join(dir, "deep")); err != nil { // which is empty
		t.Error(err)
	}
	only(t, old, "old")
}

// TestConcurrentWriters checks that whoever wins, the file is whole.
func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := WriteBytes(path, []byte(strings.Repeat(string(rune('a'+i)), 100000))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	only(t, path, strings.Repeat(string(data[:1]), 100000))
}

// TestSweep removes what a killed process left of one file, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".a[1].pcl.123.tmp", ".b.pcl.123.tmp", "a[1].pcl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(filepath.Join(dir, "a[1].pcl")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v is left (%v)", left, expect.Text(err))
	}
}

//go:build unix

package datasets

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A fetched folder is as private as the umask makes it.
func TestFetchFollowsTheUmask(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	content := someBytes(1000)
	s := &server{data: tarOf(t, member{name: "toy/data.bin", data: content})}
	e, dir := toyEntry(t, s, "toy.tar.gz", content), t.TempDir()
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{"toy": 0o700, "toy/data.bin": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// TestFetchLockIsShared: other users of a data folder can take the lock, too.
func TestFetchLockIsShared(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "x.lock")
	unlock, err := lock(t.Context(), path, "toy", progress{})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

//go:build unix

package datasets

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFetchFollowsTheUmask: fetched files and the lock are as private as the umask makes them.
func TestFetchFollowsTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	content := someBytes(1000)
	e, dir := toyEntry(t, &server{data: tarOf(t, toyMembers(content))}, "toy.tar.gz", content)
	if _, err := fetchToy(t, e, dir); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{"toy": 0o750, "toy/data.bin": 0o640, "downloads/toy.lock": 0o640} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// Package tempdir makes temporary folders that are removed at the latest when the program runs
// again after it was killed. Begin with [Make].
package tempdir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/filelock"
)

// lockFile in a folder is locked as long as its process lives.
const lockFile = ".lock"

// A Dir is a temporary folder of this process.
type Dir struct {
	Path   string
	unlock func()
}

// Make makes a folder whose name begins with a prefix. It first removes those with the same prefix
// that processes made which no longer live, each after its function in ended, if any, has been
// called with it. Nobody tells how old a folder is: each is locked by its process.
func Make(prefix string, ended ...func(dir string)) (Dir, error) {
	sweep(prefix, ended)
	for {
		dir, err := os.MkdirTemp("", prefix)
		if err != nil {
			return Dir{}, err
		}
		unlock, err := filelock.Wait(context.Background(), filepath.Join(dir, lockFile), func() {})
		if err == nil {
			if _, err = os.Stat(filepath.Join(dir, lockFile)); err == nil {
				return Dir{dir, unlock}, nil
			}
			unlock()
		}
		if !errors.Is(err, fs.ErrNotExist) { // else another process has swept it before it was locked
			return Dir{}, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

// Remove removes the folder.
func (d Dir) Remove() error {
	d.unlock()
	return os.RemoveAll(d.Path)
}

// sweep removes the folders of processes that have ended. A folder that it may not remove stays.
func sweep(prefix string, ended []func(string)) {
	folders, _ := fs.Glob(os.DirFS(os.TempDir()), prefix+"*")
	for _, name := range folders {
		dir := filepath.Join(os.TempDir(), name)
		file := filepath.Join(dir, lockFile)
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		unlock, ok := filelock.Try(file)
		if !ok {
			continue
		}
		for _, f := range ended {
			f(dir)
		}
		os.RemoveAll(dir)
		unlock()
	}
}

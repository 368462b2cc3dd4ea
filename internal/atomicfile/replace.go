package atomicfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// replace writes a new file and renames it to path. old describes the file that has this name now, or is nil.
func replace(path string, old fs.FileInfo, fill func(io.Writer) error) (err error) {
	f, err := temporary(path, old)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fillInPlace(f, fill); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if old != nil {
		keepOwner(f, old) // before the mode is set, because a change of the owner may change the mode
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// fillInPlace writes to a file that is already open, and does not replace it.
func fillInPlace(f *os.File, fill func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := fill(w); err != nil {
		return err
	}
	return w.Flush()
}

// temporary creates a file in the same folder as path. Nobody who must not read the old file may read it.
func temporary(path string, old fs.FileInfo) (*os.File, error) {
	dir, base := filepath.Split(path) // uncleaned: "..", behind a link to a folder, leads up from where that lies
	if base == "" {
		return nil, errFolder
	}
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = old.Mode().Perm()
	}
	for {
		name := fmt.Sprintf("%s.%s.%d.tmp", dir, stem(base), rand.Uint32())
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// stem is the part of a file's name that its temporary names have.
func stem(base string) string {
	return strings.ToValidUTF8(base[:min(len(base), 200)], "") // names have at most 255 bytes
}

// Sweep removes the temporary files that processes left which were killed while they wrote path. Call it only while nobody
// writes path.
func Sweep(path string) error {
	path, err := created(path)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "."+stem(base)+".")
		number, temporary := strings.CutSuffix(number, ".tmp")
		if _, bad := strconv.ParseUint(number, 10, 32); ok && temporary && bad == nil {
			err = errors.Join(err, os.Remove(dir+e.Name()))
		}
	}
	return err
}

// created returns the path of the file that writing to path creates: path itself or, if it is a symbolic link, what
// the link points to.
func created(path string) (string, error) {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(path)
			to = dir + to
		}
		path = to
	}
	return "", errors.New("too many symbolic links")
}

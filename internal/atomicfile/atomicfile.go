// Package atomicfile writes files in such a way that neither a reader nor a crash ever leaves half a file to be seen.
// Begin with [Write].
//
// In all other respects a file is written as cp or the shell's > would write it. A new file gets the mode that the
// umask allows; an existing one keeps its mode and, where the system allows it, its owner. If the path is a symbolic
// link, the file that it points to is written, even if that does not exist yet. A device, a named pipe, and the
// program's own /dev/stdout and /dev/stderr are written in place. Because the file is replaced by a new one, there are three
// differences: the other names of a file with hard links keep the old content, its folder must be writable, and a single
// file that is mounted into a container cannot be written.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write creates or replaces the file at path with what fill writes. It creates the folders above it if they are
// missing. A regular file is written under a temporary name in the same folder, flushed to disk, and renamed, so that
// after an error the old file is unchanged.
func Write(path string, fill func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if f := stream(path); f != nil {
		return fillInPlace(f, fill)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	// Opening asks the system whether this user may write there, and follow the links on the way.
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if path, err = created(path); err != nil {
			return err
		}
		return replace(path, nil, fill)
	case errors.Is(err, syscall.EISDIR):
		return errFolder
	case err != nil:
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return errors.Join(fillInPlace(f, fill), f.Close())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	return replace(path, info, fill)
}

// Check returns the error with which [Write] would end before it writes anything, because the path is that of a folder, say,
// or the folder is read-only. Long work whose outcome is to be written asks first. Missing folders are created.
func Check(path string) error {
	if stream(path) != nil {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil // opening a pipe would wait for its reader
	}
	if err := Write(path, func(io.Writer) error { return errChecked }); !errors.Is(err, errChecked) {
		return err
	}
	return nil
}

// WriteBytes is like [Write], with the content given as a slice.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// errChecked ends a write that is only tried, so that the file stays as it is.
var errChecked = errors.New("only tried")

var errFolder = errors.New("this is a folder: name a file")

// stream returns the program's own standard output or error if path names it, and otherwise nil. Such a file must not
// be opened a second time: if it is a regular file, the two would overwrite each other.
func stream(path string) *os.File {
	switch path {
	case "/dev/stdout":
		return os.Stdout
	case "/dev/stderr":
		return os.Stderr
	}
	return nil
}

// Package atomicfile writes files so that a reader, or a crash, never meets half of one.
//
// In all else a file is written as cp or the shell's > would write it. A new file gets the mode that
// the umask leaves, one that exists keeps its mode and, where the system allows it, its owner. What a
// symbolic link names is written, not the link, also where the link names nothing yet. A device, a
// named pipe and the program's own /dev/stdout and /dev/stderr are written in place. Only hard links
// part: the file's other names keep what it held, because it is replaced as a whole.
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

// Write creates or replaces the file at path with what fill writes, and creates the folders above it
// that are missing. A regular file is written under another name of the same folder, flushed to disk
// and renamed: on any error it is left as it was.
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

// WriteBytes is [Write] of a slice.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

var errFolder = errors.New("this is a folder: name a file")

// stream is the program's own output that path names, or nil. It must not be opened a second time:
// where it goes to a file, the two would overwrite each other.
func stream(path string) *os.File {
	switch path {
	case "/dev/stdout":
		return os.Stdout
	case "/dev/stderr":
		return os.Stderr
	}
	return nil
}

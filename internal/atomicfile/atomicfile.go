// Package atomicfile writes files in such a way that neither a reader nor a crash ever leaves half
// a file to be seen. Begin with [Write].
//
// In other respects a file is written as the shell's > would write it. A new file gets the mode
// that the umask allows; an existing one keeps its mode. If the path is a symbolic link to a file,
// that file is written. A device, a named pipe, and the program's own /dev/stdout are written in
// place. Because the file is replaced by a new one, the other names of a file with hard links keep
// the old content, and its folder must be writable.
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
	"strings"
)

// Write creates or replaces the file at path with what fill writes. It creates the folders above it
// if they are missing. A regular file is written under a temporary name in the same folder, flushed
// to disk, and renamed, so that after an error the old file is unchanged.
func Write(path string, fill func(io.Writer) error) error {
	if err := write(path, fill); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func write(path string, fill func(io.Writer) error) error {
	switch path { // opened a second time, the two would overwrite each other if it is a file
	case "/dev/stdout":
		return buffered(os.Stdout, fill)
	case "/dev/stderr":
		return buffered(os.Stderr, fill)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // asks the system whether this user may write there
	if errors.Is(err, fs.ErrNotExist) {
		return replace(path, 0o666, fill)
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return errors.Join(buffered(f, fill), f.Close())
	}
	to, unknown := filepath.EvalSymlinks(path)
	if err := errors.Join(err, unknown, f.Close()); err != nil {
		return err
	}
	return replace(to, info.Mode().Perm(), fill)
}

// Check returns the error with which [Write] would end before it writes anything, because the path
// is that of a folder, say, or the folder is read-only. Long work whose outcome is to be written
// asks first. Missing folders are created.
func Check(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil // opening a pipe would wait for its reader
	}
	if err := Write(path, func(io.Writer) error { return errChecked }); !errors.Is(err, errChecked) {
		return err
	}
	return nil
}

// errChecked ends a write that is only tried, so that the file stays as it is.
var errChecked = errors.New("only tried")

// WriteBytes is like [Write], with the content given as a slice.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func buffered(f *os.File, fill func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := fill(w); err != nil {
		return err
	}
	return w.Flush()
}

// replace writes a new file and renames it to path. Nobody who must not read the old file may read
// it.
func replace(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	dir, base := filepath.Split(path)
	if base == "" {
		return errors.New("this is a folder: name a file")
	}
	name := fmt.Sprintf("%s%s%d.tmp", dir, temporary(base), rand.Uint64())
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = buffered(f, fill)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && mode != 0o666 { // of a file that was there; the umask may have taken some of it away
		err = f.Chmod(mode)
	}
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// temporary is how the temporary names of a file begin.
func temporary(base string) string {
	return "." + strings.ToValidUTF8(base[:min(len(base), 200)], "") + "." // names have at most 255 bytes
}

// Sweep removes the temporary files that processes left which were killed while they wrote path.
// Call it only while nobody writes path.
func Sweep(path string) error {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporary(base)) && strings.HasSuffix(e.Name(), ".tmp") {
			err = errors.Join(err, os.Remove(dir+e.Name()))
		}
	}
	return err
}

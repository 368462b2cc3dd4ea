// Package regular opens files that users name, or that lie in folders which others may write to.
// Anything but a file of bytes on a disk is refused: a named pipe would be waited for, and a device
// has no end.
package regular

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Open opens a file to be read. The error is a [fs.PathError], also for a folder, a named pipe, a
// socket or a device.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // which does not wait for whoever writes to a pipe
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s; want a file", kind(info.Mode()))}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a whole file; see [Open].
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	all.Grow(int(info.Size()) + bytes.MinRead)
	_, err = all.ReadFrom(f)
	return all.Bytes(), err
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no ordinary file"
}

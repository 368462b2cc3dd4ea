// Package filelock waits for the lock of a file that several processes, and users, share.
package filelock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Wait takes the lock, in a folder that it creates if need be, and returns the function that gives
// it back. While another process has it, Wait calls waiting, once, and waits until ctx ends. The
// operating system frees the lock of a process that dies, so that no lock file is ever stale.
func Wait(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o666)) // less the umask
	ok, err := l.TryLock()
	if err == nil && !ok {
		waiting()
		_, err = l.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { l.Unlock() }, nil
}

// Try takes the lock of a file that exists. ok is false if another process has it, or if the file
// cannot be locked.
func Try(path string) (unlock func(), ok bool) {
	l := flock.New(path, flock.SetFlag(os.O_RDWR)) // which does not create the file
	if ok, _ := l.TryLock(); !ok {
		l.Close()
		return nil, false
	}
	return func() { l.Unlock() }, true
}

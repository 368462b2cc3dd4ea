// Package folder makes sure that only one process at a time works in a run's folder. Begin with [Take].
package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// lockFile is locked as long as a process works in its folder, and says which process that is. The operating
// system releases the lock when the process dies, so a file that is left behind does no harm.
const lockFile = ".lock"

// patience is how long [Take] waits for the lock. Another process may hold it for only a moment, to look into the
// folder.
const patience = 500 * time.Millisecond

// ErrHeld marks the error of [Take] if another process works in the folder.
var ErrHeld = errors.New("folder in use")

// Holder is the process that works in a folder.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Since.Local().Format("2006-01-02 15:04:05"))
}

// HeldError says which process works in a folder. It matches [ErrHeld].
type HeldError struct {
	Dir    string
	Holder Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is in use by %s: wait until it has ended, or end it", e.Dir, e.Holder)
}

// Is reports whether the target is [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Lock gives its holder the right to write to a folder.
type Lock struct {
	dir  string
	file *flock.Flock
	// Open says that the file system has no locks: others may write to the folder at the same time.
	Open bool
}

// tryLock takes the lock of a file, unless another process has it.
var tryLock = (*flock.Flock).TryLock

// noLocks says whether an error of tryLock means that the file system has none.
func noLocks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK)
}

// Take creates the folder if it does not exist, takes its lock, and checks that the folder can be written to. If
// another process has the lock, the error is [ErrHeld] and says which.
func Take(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cannotWrite(dir, err)
	}
	l := &Lock{dir: dir}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got, err := l.try()
		switch {
		case noLocks(err):
			return &Lock{dir: dir, Open: true}, cannotWrite(dir, try(dir))
		case err != nil:
			return nil, cannotWrite(dir, err)
		case got:
			if err := errors.Join(l.sign(), try(dir)); err != nil {
				l.Release()
				return nil, cannotWrite(dir, err)
			}
			return l, nil
		case time.Now().After(deadline):
			return nil, &HeldError{dir, holder(dir)}
		}
	}
}

// try takes the lock if it is free. The last holder may have removed the file after it was opened here and before
// it was locked; a lock on a removed file would keep nobody out, so it does not count.
func (l *Lock) try() (bool, error) {
	l.file = flock.New(filepath.Join(l.dir, lockFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	got, err := tryLock(l.file)
	if err == nil && got && l.Check() != nil {
		got, err = false, l.file.Unlock()
	}
	return got, err
}

// Check returns an error if the folder is no longer the one that was locked. It may have been removed or moved,
// and another process may have created a new folder with its name.
func (l *Lock) Check() error {
	if l.Open {
		_, err := os.Stat(l.dir)
		return err
	}
	locked, err := l.file.Stat()
	if err != nil {
		return err
	}
	now, err := os.Stat(l.file.Path())
	if err == nil && !os.SameFile(locked, now) {
		err = errors.New("another folder has its name")
	}
	if err != nil {
		return fmt.Errorf("%s was removed or moved while it was in use: %w", l.dir, err)
	}
	return nil
}

// Release removes the lock file, if the system allows a file in use to be removed, and releases the lock.
func (l *Lock) Release() error {
	if l.Open {
		return nil
	}
	if l.Check() == nil {
		os.Remove(l.file.Path()) // on Windows the file stays, and the next process locks it again
	}
	return l.file.Unlock()
}

// offset is where the lock file names its holder. On Windows the first byte of the file is what is locked, and
// other processes cannot read it.
const offset = 1

// sign writes into the lock file which process has the lock.
func (l *Lock) sign() error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	data, err := json.Marshal(Holder{os.Getpid(), host, time.Now()})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.file.Path(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(data, '\n'), offset)
	return errors.Join(err, f.Close())
}

// Held returns which process works in a folder. ok is false if none does, or the file system has no locks. Unlike [Take],
// it does not wait.
func Held(dir string) (h Holder, ok bool) {
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetFlag(os.O_RDWR))
	got, err := tryLock(lock)
	if got {
		lock.Unlock()
	}
	if got || err != nil {
		return Holder{}, false
	}
	return holder(dir), true
}

// holder reads which process has the lock; the result is zero if that is not known.
func holder(dir string) (h Holder) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return h
	}
	defer f.Close()
	if json.NewDecoder(io.NewSectionReader(f, offset, 4096)).Decode(&h) != nil {
		return Holder{}
	}
	return h
}

// try writes a small file to a folder and removes it. Looking at the folder's permissions would not be enough: the
// disk may be full.
func try(dir string) error {
	f, err := os.CreateTemp(dir, ".trial.*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func cannotWrite(dir string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write to the folder %s: %w", dir, err)
}

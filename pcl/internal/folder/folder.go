// Package folder gives a run's folder to one process at a time, and says beforehand whether anything can be
// written to it.
package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockFile is locked as long as a process works in its folder, and says which one does. The operating system
// frees the lock of a process that dies, so that a file left behind holds nobody up.
const lockFile = ".lock"

// patience is how long [Take] waits for a process that only looks: less than a second look lasts.
const patience = 500 * time.Millisecond

// ErrHeld marks the error of [Take] where another process works in the folder.
var ErrHeld = errors.New("folder in use")

// Holder is who works in a folder.
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

// HeldError says who works in a folder. It is [ErrHeld].
type HeldError struct {
	Dir    string
	Holder Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is in use by %s: wait until it has ended, or end it", e.Dir, e.Holder)
}

// Is makes it [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Lock is the right to write to a folder.
type Lock struct {
	dir  string
	file *flock.Flock
}

// Take makes the folder where it is not there, takes its lock, and writes to it for a trial. An error that is
// [ErrHeld] says who has the lock.
func Take(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cannotWrite(dir, err)
	}
	l := &Lock{dir: dir}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got, err := l.try()
		switch {
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

// try takes the lock if nobody has it. The file may have been removed by its last holder between being opened
// and being locked: such a lock holds nobody off.
func (l *Lock) try() (bool, error) {
	l.file = flock.New(filepath.Join(l.dir, lockFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	got, err := l.file.TryLock()
	if err == nil && got && l.Check() != nil {
		got, err = false, l.file.Unlock()
	}
	return got, err
}

// Check says whether the folder is still the one that was locked: it may have been removed or moved, and
// another process may have made one of its name.
func (l *Lock) Check() error {
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

// Release removes the lock's file, as far as the system lets a file in use be removed, and frees the lock.
func (l *Lock) Release() error {
	if l.Check() == nil {
		os.Remove(l.file.Path()) // on Windows it stays, and is taken again by the next
	}
	return l.file.Unlock()
}

// offset is where the lock's file names its holder: on Windows the first byte is what is locked, and cannot be
// read by others.
const offset = 1

// sign writes down who has the lock.
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

// holder reads who has the lock, as far as it is known.
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

// Writable says whether a folder could be made, where it is not there, and written to. It leaves nothing behind.
func Writable(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		_, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			continue
		}
		if err == nil {
			err = try(at)
		}
		return cannotWrite(dir, err)
	}
}

// try writes a small file and removes it: a folder's permissions do not tell of a full disk.
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

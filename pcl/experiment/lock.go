package experiment

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

	"github.com/parallelcl/parallelcl/internal/regular"
)

// Only one process at a time works in a run's folder.

// lockFile is locked as long as a process works in its folder, and says which process that is. The
// operating system releases the lock when the process dies, so a file that is left behind does no
// harm.
const lockFile = ".lock"

// patience is how long [takeLock] waits for the lock. Another process may hold it for only a
// moment, to look into the folder.
const patience = 500 * time.Millisecond

// holder is the process that works in a folder.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Since.Local().Format("2006-01-02 15:04:05"))
}

// errHeld marks the error of a run in whose folder another process works.
var errHeld = errors.New("in use")

// failure says that the process works in a folder.
func (h holder) failure(dir string) error {
	return fmt.Errorf("%s is %w by %s: wait until it has ended, or end it", dir, errHeld, h)
}

// lock gives its holder the right to write to a folder.
type lock struct {
	dir  string
	file *flock.Flock
	// open says that the file system has no locks: others may write to the folder at the same time.
	open bool
}

// tryLock takes the lock of a file, unless another process has it.
var tryLock = (*flock.Flock).TryLock

// noLocks says whether an error of tryLock means that the file system has none.
func noLocks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK)
}

// takeLock creates the folder if it does not exist, takes its lock, and checks that the folder can
// be written to. If another process has the lock, the error is [errHeld] and says which.
func takeLock(dir string) (*lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cannotWrite(dir, err)
	}
	l := &lock{dir: dir}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got, err := l.try()
		switch {
		case noLocks(err):
			return &lock{dir: dir, open: true}, cannotWrite(dir, tryToWrite(dir))
		case err != nil:
			return nil, cannotWrite(dir, err)
		case got:
			if err := errors.Join(l.sign(), tryToWrite(dir)); err != nil {
				l.release()
				return nil, cannotWrite(dir, err)
			}
			return l, nil
		case time.Now().After(deadline):
			return nil, holderOf(dir).failure(dir)
		}
	}
}

// try takes the lock if it is free. The last holder may have removed the file after it was opened
// here and before it was locked; a lock on a removed file would keep nobody out, so it does not
// count.
func (l *lock) try() (bool, error) {
	l.file = flock.New(filepath.Join(l.dir, lockFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	got, err := tryLock(l.file)
	if err == nil && got && l.check() != nil {
		got, err = false, l.file.Unlock()
	}
	return got, err
}

// check returns an error if the folder is no longer the one that was locked. It may have been
// removed or moved, and another process may have created a new folder with its name.
func (l *lock) check() error {
	if l.open {
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

// release removes the lock file, if the system allows a file in use to be removed, and releases the
// lock.
func (l *lock) release() error {
	if l.open {
		return nil
	}
	if l.check() == nil {
		os.Remove(l.file.Path()) // on Windows the file stays, and the next process locks it again
	}
	return l.file.Unlock()
}

// offset is where the lock file names its holder. On Windows the first byte of the file is what is
// locked, and other processes cannot read it.
const offset = 1

// sign writes into the lock file which process has the lock.
func (l *lock) sign() error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	data, err := json.Marshal(holder{os.Getpid(), host, time.Now()})
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

// heldBy returns which process works in a folder. ok is false if none does, or the file system has
// no locks. Unlike [takeLock], it does not wait.
func heldBy(dir string) (h holder, ok bool) {
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetFlag(os.O_RDWR))
	got, err := tryLock(lock)
	if got {
		lock.Unlock()
	}
	if got || err != nil {
		return holder{}, false
	}
	return holderOf(dir), true
}

// holderOf reads which process has the lock; the result is zero if that is not known.
func holderOf(dir string) (h holder) {
	f, err := regular.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return h
	}
	defer f.Close()
	if json.NewDecoder(io.NewSectionReader(f, offset, 4096)).Decode(&h) != nil {
		return holder{}
	}
	return h
}

// tryToWrite writes a small file to a folder and removes it. Looking at the folder's permissions
// would not be enough: the disk may be full.
func tryToWrite(dir string) error {
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

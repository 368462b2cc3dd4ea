package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// TestOneAtATime has a folder refused while it is taken, with its holder named, and given
// afterwards.
func TestOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "run")
	first, err := takeLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = takeLock(dir)
	if !errors.Is(err, errHeld) {
		t.Fatalf("a second holder: %v, want errHeld", expect.Text(err))
	}
	host, _ := os.Hostname()
	switch h := holderOf(dir); {
	case h.PID != os.Getpid():
		t.Errorf("h.PID is %d; want %d", h.PID, os.Getpid())
	case h.Host != host:
		t.Errorf("h.Host is %q; want %q", h.Host, host)
	case time.Since(h.Since) > time.Minute, !strings.Contains(err.Error(), host):
		t.Errorf("the holder is %+v, in words %q", h, err)
	}
	must.Do(t, first.release())
	second, err := takeLock(dir)
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	must.Do(t, second.release())
}

// TestNoTwoHolders lets many take and release one folder, whose lock's file comes and goes with
// them.
func TestNoTwoHolders(t *testing.T) {
	dir := t.TempDir()
	var inside, most, taken atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 30 {
				l, err := takeLock(dir)
				if errors.Is(err, errHeld) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n > 1 {
					most.Store(n)
				}
				taken.Add(1)
				inside.Add(-1)
				if err := l.release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if most.Load() > 1 || taken.Load() < 30 {
		t.Errorf("%d holders at once, taken %d times", most.Load(), taken.Load())
	}
}

// TestLeftBehind takes a folder whose last holder died and left its name.
func TestLeftBehind(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, lockFile), []byte("\x00{\"pid\":1,\"host\":\"gone\"}\nand more"), 0o644))
	l := must.Get(takeLock(dir))(t)
	defer l.release()
	if h := holderOf(dir); h.PID != os.Getpid() {
		t.Errorf("the holder is %+v", h)
	}
}

// TestFolderTakenAway removes a folder in use: its holder must not write into the one that comes
// after.
func TestFolderTakenAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := must.Get(takeLock(dir))(t)
	if err := l.check(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Skipf("this system does not let a folder in use be moved: %v", err)
	}
	if err := l.check(); err == nil {
		t.Error("the folder is away, and nothing is said")
	}
	other := must.Get(takeLock(dir))(t)
	if err := l.check(); err == nil {
		t.Error("another folder of its name passes for it")
	}
	if err := errors.Join(l.release(), other.check(), other.release()); err != nil {
		t.Errorf("the release of the first took the second's lock away: %v", err)
	}
}

// TestNotWritable names the folder, and makes nothing on the way.
func TestNotWritable(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
	below := filepath.Join(file, "runs", "one")
	_, err := takeLock(below)
	expect.Refusal(t, "below a file", err, below)
	if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 {
		t.Errorf("%v (%v) are left, want the one file", entries, expect.Text(err))
	}
}

// TestNoLocks: where a file system has no locks, the folder is taken all the same, and it is said.
func TestNoLocks(t *testing.T) {
	before := tryLock
	defer func() { tryLock = before }()
	tryLock = func(*flock.Flock) (bool, error) { return false, syscall.ENOLCK }
	dir := t.TempDir()
	l, err := takeLock(dir)
	switch {
	case err != nil:
		t.Fatal(err)
	case !l.open:
		t.Fatal("l.open is false")
	}
	if _, held := heldBy(dir); held {
		t.Error("the folder counts as held")
	}
	if err := errors.Join(l.check(), l.release()); err != nil {
		t.Error(err)
	}
}

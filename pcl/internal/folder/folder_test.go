package folder

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

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestOneAtATime has a folder refused while it is taken, with its holder named, and given afterwards.
func TestOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "run")
	first, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Take(dir)
	var held *HeldError
	if !errors.As(err, &held) || !errors.Is(err, ErrHeld) {
		t.Fatalf("a second holder: %v, want ErrHeld", err)
	}
	host, _ := os.Hostname()
	if h := held.Holder; h.PID != os.Getpid() || h.Host != host || time.Since(h.Since) > time.Minute || !strings.Contains(err.Error(), host) {
		t.Errorf("the holder is %+v, in words %q", h, err)
	}
	must.Do(t, first.Release())
	second, err := Take(dir)
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	must.Do(t, second.Release())
}

// TestNoTwoHolders lets many take and release one folder, whose lock's file comes and goes with them.
func TestNoTwoHolders(t *testing.T) {
	dir := t.TempDir()
	var inside, most, taken atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 30 {
				l, err := Take(dir)
				if errors.Is(err, ErrHeld) {
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
				if err := l.Release(); err != nil {
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
	l := must.Get(Take(dir))(t)
	defer l.Release()
	if h := holder(dir); h.PID != os.Getpid() {
		t.Errorf("the holder is %+v", h)
	}
}

// TestFolderTakenAway removes a folder in use: its holder must not write into the one that comes after.
func TestFolderTakenAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := must.Get(Take(dir))(t)
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Skipf("this system does not let a folder in use be moved: %v", err)
	}
	if err := l.Check(); err == nil {
		t.Error("the folder is away, and nothing is said")
	}
	other := must.Get(Take(dir))(t)
	if err := l.Check(); err == nil {
		t.Error("another folder of its name passes for it")
	}
	if err := errors.Join(l.Release(), other.Check(), other.Release()); err != nil {
		t.Errorf("the release of the first took the second's lock away: %v", err)
	}
}

// TestNotWritable names the folder, and makes nothing on the way.
func TestNotWritable(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
	below := filepath.Join(file, "runs", "one")
	if _, err := Take(below); err == nil || !strings.Contains(err.Error(), below) {
		t.Errorf("below a file: taken, %v", err)
	}
	if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 {
		t.Errorf("%v (%v) are left, want the one file", entries, err)
	}
}

// TestNoLocks: where a file system has no locks, the folder is taken all the same, and it is said.
func TestNoLocks(t *testing.T) {
	before := tryLock
	defer func() { tryLock = before }()
	tryLock = func(*flock.Flock) (bool, error) { return false, syscall.ENOLCK }
	dir := t.TempDir()
	l, err := Take(dir)
	if err != nil || !l.Open {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, held := Held(dir); held {
		t.Error("the folder counts as held")
	}
	if err := errors.Join(l.Check(), l.Release()); err != nil {
		t.Error(err)
	}
}

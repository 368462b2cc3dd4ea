package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

var me, other = sha256.Sum256([]byte("me")), sha256.Sum256([]byte("another"))

func opened(t *testing.T, dir string, state Sum) *Journal {
	t.Helper()
	j := must.Get(Open(dir, me, state))(t)
	t.Cleanup(func() { j.Close() })
	return j
}

// again opens a journal after what a crash would leave, and returns its records as well.
func again(t *testing.T, j *Journal, state Sum) (*Journal, []string) {
	t.Helper()
	must.Do(t, j.Close())
	j = opened(t, j.dir, state)
	return j, records(t, j)
}

func records(t *testing.T, j *Journal) (all []string) {
	t.Helper()
	number := j.Covered()
	must.Do(t, j.Each(func(n uint64, record []byte) error {
		if number++; n != number {
			t.Errorf("record %d is called %d", number, n)
		}
		all = append(all, string(record))
		return nil
	}))
	return all
}

func add(t *testing.T, j *Journal, records ...string) {
	t.Helper()
	for _, r := range records {
		must.Do(t, j.Append([]byte(r), nil, nil))
	}
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the journal has %q, want %q", got, want)
	}
}

func TestStates(t *testing.T) {
	first, second := sha256.Sum256([]byte("first")), sha256.Sum256([]byte("second"))
	j := opened(t, filepath.Join(t.TempDir(), "new", "journal"), Sum{})
	add(t, j, "a", "", "c")
	j, got := again(t, j, Sum{})
	same(t, got, "a", "", "c")
	add(t, j, "d")
	must.Get(j.Begin(first, j.Last()))(t)
	add(t, j, "e")
	j, got = again(t, j, Sum{}) // the first state was not saved
	same(t, got, "a", "", "c", "d", "e")
	must.Do(t, must.Get(j.Begin(first, 3))(t)()) // as while they are done again
	j, got = again(t, j, first)
	same(t, got, "d", "e")
	must.Get(j.Begin(second, j.Last()))(t)
	add(t, j, "f")
	j, got = again(t, j, second) // saved, but a crash came before old segments were removed
	same(t, got, "f")
	if n := len(must.Get(filepath.Glob(filepath.Join(j.dir, "*"+ending)))(t)); n > 2 {
		t.Errorf("%d segments are left", n)
	}
	must.Do(t, must.Get(j.Begin(first, j.Last()))(t)())
	j, got = again(t, j, first)
	same(t, got)
	if j.Last() != 6 || j.Bytes() != 0 {
		t.Errorf("the last record is %d, and there are %d bytes", j.Last(), j.Bytes())
	}
}

// TestOther: a journal is used for its own learner and state only, by one process.
func TestOther(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir, Sum{})
	if _, err := Open(dir, me, Sum{}); err == nil {
		t.Error("two have one journal")
	}
	must.Do(t, j.Close())
	opened(t, dir, other).Close() // without a record, it says nothing
	j = opened(t, dir, other)
	add(t, j, "a")
	must.Do(t, j.Close())
	for name, of := range map[string][2]Sum{"state": {me, Sum{}}, "owner": {other, other}} {
		if _, err := Open(dir, of[0], of[1]); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), dir) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	same(t, records(t, opened(t, dir, other)), "a")
}

// TestGroups: however many goroutines append, what is called for records comes in the order in
// which the disk has them.
func TestGroups(t *testing.T) {
	j := opened(t, t.TempDir(), Sum{})
	syncs, group := 0, j.disk.sync
	j.disk.sync = func(f *os.File) error { syncs++; return group(f) }
	var checked, done []string
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			r := fmt.Sprint(i)
			check := func() error { checked = append(checked, r); return nil }
			must.Do(t, j.Append([]byte(r), check, func() { done = append(done, r) }))
		})
	}
	all.Wait()
	refused := errors.New("refused")
	if err := j.Append([]byte("x"), func() error { return refused }, nil); err != refused {
		t.Errorf("error %v", err)
	}
	same(t, done, checked...)
	_, got := again(t, j, Sum{})
	same(t, got, checked...)
	t.Logf("%d calls of fsync for %d records", syncs, len(done))
}

// crashed returns the bytes of a segment with some records, and where each of them ends.
func crashed(t *testing.T, dir string) (file string, data []byte, ends []int64) {
	t.Helper()
	j := opened(t, dir, Sum{})
	file = j.file.Name()
	ends = append(ends, j.size)
	for _, r := range []string{"one", "", "three" + strings.Repeat("\x00", 40), "four"} {
		add(t, j, r)
		ends = append(ends, j.size)
	}
	must.Do(t, j.Close())
	return file, must.Get(os.ReadFile(file))(t), ends
}

// left has the segment of crashed, changed, in a folder of its own.
func left(t *testing.T, file string, data []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o666))
	return dir
}

// TestBytesAtOnce: who asks for the size of the records does not wait while the disk writes.
func TestBytesAtOnce(t *testing.T) {
	j := opened(t, t.TempDir(), Sum{})
	must.Do(t, j.Append([]byte("first"), nil, nil))
	before, writes, written, good := j.Bytes(), make(chan struct{}), make(chan struct{}), j.disk.sync
	j.disk.sync = func(f *os.File) error {
		close(writes)
		<-written
		return good(f)
	}
	appended := make(chan error, 1)
	go func() { appended <- j.Append([]byte("second"), nil, nil) }()
	<-writes
	during := j.Bytes()
	close(written)
	must.Do(t, <-appended)
	if after := j.Bytes(); before == 0 || during != before || after <= during {
		t.Errorf("%d bytes, %d while the disk writes, then %d", before, during, after)
	}
}

// TestEveryCut: wherever a segment ends, its complete records are there, and the journal goes on
// behind them.
func TestEveryCut(t *testing.T) {
	file, data, ends := crashed(t, t.TempDir())
	for cut := headerSize; cut <= int64(len(data)); cut++ {
		for _, zeros := range []int{0, 1, 30} {
			want := -1
			for _, end := range ends {
				if end <= cut {
					want++
				}
			}
			dir := left(t, file, append(slices.Clone(data[:cut]), make([]byte, zeros)...))
			if zeros > 0 && !slices.Contains(ends, cut) {
				continue // half a frame and zeros: it may be damage
			}
			j := opened(t, dir, Sum{})
			if got := records(t, j); len(got) != want {
				t.Fatalf("cut at %d, and %d zeros: %q, want %d records", cut, zeros, got, want)
			}
			add(t, j, "more")
			if _, got := again(t, j, Sum{}); len(got) != want+1 || got[want] != "more" {
				t.Fatalf("cut at %d: then %q", cut, got)
			}
		}
	}
}

// TestEveryFlip: whichever byte of a journal changes, it is refused, and the file is named.
func TestEveryFlip(t *testing.T) {
	file, data, _ := crashed(t, t.TempDir())
	for at := range data {
		for _, bit := range []byte{1, 0x80, 0xff} {
			changed := slices.Clone(data)
			changed[at] ^= bit
			j, err := Open(left(t, file, changed), me, Sum{})
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(file)) {
				t.Fatalf("byte %d ^ %#x: %v", at, bit, err)
			}
			if j != nil {
				t.Fatal("and there is a journal")
			}
		}
	}
}

// TestMissing: a journal without one of its segments, or with one that is cut, is refused.
func TestMissing(t *testing.T) {
	for name, harm := range map[string]func(segments []string) error{
		"removed": func(s []string) error { return os.Remove(s[1]) },
		"first":   func(s []string) error { return os.Remove(s[0]) },
		"cut":     func(s []string) error { return os.Truncate(s[1], headerSize+3) },
		"emptied": func(s []string) error { return os.Truncate(s[1], 0) },
	} {
		t.Run(name, func(t *testing.T) {
			j := opened(t, t.TempDir(), Sum{})
			for i := range byte(3) {
				add(t, j, "a", "b")
				must.Get(j.Begin(Sum{1, i}, j.Last()))(t) // which is not saved
			}
			must.Do(t, j.Close())
			must.Do(t, harm(must.Get(filepath.Glob(filepath.Join(j.dir, "*"+ending)))(t)))
			if _, err := Open(j.dir, me, Sum{}); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOther) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestFaults: whatever of a disk fails, and when, the journal has exactly the records that were
// acknowledged.
func TestFaults(t *testing.T) {
	full, broken := fmt.Errorf("no room: %w", syscall.ENOSPC), errors.New("broken")
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 0))
		j, good := opened(t, t.TempDir(), Sum{}), disk{(*os.File).Write, (*os.File).Sync, (*os.File).Truncate}
		var want []string
		fails := func() bool { return rng.IntN(4) == 0 }
		for i := range 40 {
			j.disk = disk{
				write: func(f *os.File, b []byte) (int, error) {
					if fails() {
						n, _ := f.Write(b[:rng.IntN(len(b)+1)])
						return n, full
					}
					return f.Write(b)
				},
				sync: func(f *os.File) error {
					if fails() {
						return broken
					}
					return f.Sync()
				},
				truncate: func(f *os.File, n int64) error {
					if fails() {
						return broken
					}
					return f.Truncate(n)
				},
			}
			r := fmt.Sprint(i)
			err := j.Append([]byte(r), nil, func() { want = append(want, r) })
			if err != nil && !errors.Is(err, full) && !errors.Is(err, broken) {
				t.Fatal(err)
			}
			if fails() {
				j.disk = good
				saved, err := j.Begin(Sum{2, byte(i)}, j.Last())
				must.Do(t, err)
				if fails() { // else the state is not saved
					must.Do(t, saved())
					must.Do(t, j.Close())
					j, want = opened(t, j.dir, Sum{2, byte(i)}), nil
				}
			}
		}
		state := Sum{}
		for i := range 40 {
			if at := covering(j.segments, Sum{2, byte(i)}); at == 0 {
				state = Sum{2, byte(i)}
			}
		}
		_, got := again(t, j, state)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: the journal has %q, want %q", seed, got, want)
		}
	}
}

// TestUnwritable: while no segment can be begun after a failure, nothing is acknowledged; then the
// journal goes on.
func TestUnwritable(t *testing.T) {
	j := opened(t, t.TempDir(), Sum{})
	add(t, j, "a")
	j.disk.sync = func(*os.File) error { return errors.New("broken") }
	elsewhere := j.dir + "-moved"
	must.Do(t, os.Rename(j.dir, elsewhere))
	must.Do(t, os.WriteFile(j.dir, nil, 0o666)) // in place of the folder
	for range 2 {
		if err := j.Append([]byte("b"), nil, nil); err == nil {
			t.Error("a record was acknowledged")
		}
	}
	must.Do(t, os.Remove(j.dir))
	must.Do(t, os.Rename(elsewhere, j.dir))
	j.disk.sync = (*os.File).Sync
	add(t, j, "c")
	_, got := again(t, j, Sum{})
	same(t, got, "a", "c")
	if _, err := os.Stat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

package grid

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// A lease is the right to make a cell. It is a file, leases/CELL.N, whose content changes with every beat of its
// holder. The lease of a holder that no longer beats has run out. A worker sees that by its own clock, which only
// counts the time since the worker started: neither the time of a file nor the time of day plays a part.
//
// N is 1 for a cell that nobody holds. Whoever takes over a lease that has run out creates N+1. A file can be created
// by one worker only, so that only one can take it over. Since a lease may also be released at that moment, the new
// holder then looks whether the file N is still the one that had run out, and gives way if it is not.
//
// Where the holder is on the same machine, there is a shorter way: it holds a lock on its file, which the system
// releases when the process dies.

// Holder says who holds a lease, and how far it has come.
type Holder struct {
	Token   string    `json:"token"` // tells leases apart
	Cell    string    `json:"cell"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Machine string    `json:"machine"`
	Locked  bool      `json:"locked"`          // whether the file could be locked
	Brief   bool      `json:"brief,omitempty"` // whether it is held for a moment only, and not to make the cell
	Since   time.Time `json:"since"`           // for people to read
	Beat    int       `json:"beat"`
	Step    int       `json:"step"`
	Steps   int       `json:"steps"`
	From    int       `json:"from"`    // the step that the holder began at
	Seconds float64   `json:"seconds"` // since the holder took the cell, at its last beat
}

// expected returns how many seconds the whole cell takes at the holder's pace; 0 if it has made no step yet.
func (h Holder) expected() float64 {
	if h.Step <= h.From {
		return 0
	}
	return h.Seconds * float64(h.Steps) / float64(h.Step-h.From)
}

func (h Holder) String() string { return fmt.Sprintf("process %d on %s", h.PID, h.Host) }

// leaseSize is the length of a lease's file. It never changes, so that a beat needs no room on the disk.
const leaseSize = 1024

// leaseOffset is where the content begins. On Windows the first byte is what is locked, and others cannot read it.
const leaseOffset = 1

// leases are those of a folder, as one worker sees them.
type leases struct {
	dir     string
	expiry  time.Duration        // a lease runs out after this time without a beat
	clock   func() time.Duration // time since some moment, steady
	machine string
	brief   bool // those that are taken are held for a moment only
	seen    map[string]sighting
}

// sighting is a lease's content, and when it was first seen so.
type sighting struct {
	content []byte
	at      time.Duration
}

var processStart = time.Now()

// steadyClock is the time since the process started. It does not follow changes of the time of day.
func steadyClock() time.Duration { return time.Since(processStart) }

func (f Folder) leases(expiry time.Duration) *leases {
	return &leases{dir: f.path(leaseDir), expiry: expiry, clock: steadyClock, machine: thisMachine(), seen: map[string]sighting{}}
}

// lease is one that this worker holds.
type lease struct {
	all    *leases
	holder Holder
	number int
	path   string
	taken  time.Duration // when, by the clock of all
	file   *os.File
	lock   *flock.Flock
}

// list returns the numbers of a cell's files, or those of all cells.
func (l *leases) list() (map[string][]int, error) {
	entries, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string][]int{}
	for _, e := range entries {
		cell, number, ok := strings.Cut(e.Name(), ".")
		n, err := strconv.Atoi(number)
		if ok && err == nil && n > 0 {
			out[cell] = append(out[cell], n)
		}
	}
	return out, nil
}

func (l *leases) path(cell string, n int) string {
	return filepath.Join(l.dir, cell+"."+strconv.Itoa(n))
}

// take takes the lease of a cell. It returns nil if somebody else holds it.
func (l *leases) take(cell string) (*lease, error) {
	if err := os.MkdirAll(l.dir, 0o777); err != nil {
		return nil, err
	}
	all, err := l.list()
	if err != nil {
		return nil, err
	}
	last, content := highest(all[cell]), []byte(nil)
	if last > 0 {
		var over bool
		if content, over, err = l.over(cell, last); err != nil || !over {
			return nil, err
		}
	}
	mine, err := l.create(cell, last+1)
	if mine == nil || err != nil {
		return nil, err
	}
	if ok, err := l.confirmed(mine, last, content); err != nil || !ok {
		return nil, errors.Join(err, mine.release())
	}
	for _, n := range all[cell] {
		os.Remove(l.path(cell, n)) // if one stays, it is in nobody's way
	}
	return mine, nil
}

func highest(numbers []int) int {
	out := 0
	for _, n := range numbers {
		out = max(out, n)
	}
	return out
}

// confirmed reports whether a lease that was just created is the only one, apart from the one that had run out.
func (l *leases) confirmed(mine *lease, last int, content []byte) (bool, error) {
	all, err := l.list()
	if err != nil {
		return false, err
	}
	for _, n := range all[mine.holder.Cell] {
		if n > last+1 || last == 0 && n != 1 {
			return false, nil
		}
	}
	if last == 0 {
		return true, nil
	}
	now, err := os.ReadFile(l.path(mine.holder.Cell, last))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return bytes.Equal(now, content), err
}

// over reports whether a lease has run out, and returns its content.
func (l *leases) over(cell string, n int) (content []byte, over bool, err error) {
	path := l.path(cell, n)
	content, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // it was released just now; the next look will tell
	}
	if err != nil {
		return nil, false, err
	}
	if h, ok := readHolder(content); ok && l.machine != "" && h.Machine == l.machine && h.Locked && unlocked(path) {
		return content, true, nil
	}
	last, known := l.seen[path]
	if !known || !bytes.Equal(last.content, content) {
		l.seen[path] = sighting{content, l.clock()}
		return content, false, nil
	}
	return content, l.clock()-last.at >= l.expiry, nil
}

// free reports whether nobody holds the lease of a cell.
func (l *leases) free(cell string) (bool, error) {
	all, err := l.list()
	if err != nil || len(all[cell]) == 0 {
		return err == nil, err
	}
	_, over, err := l.over(cell, highest(all[cell]))
	return over, err
}

// doubtful reports whether the holder of a cell, which has not run out, could be dead nevertheless, or not be at the cell: that
// it is alive is certain only of holders on this machine.
func (l *leases) doubtful(cell string) bool {
	all, err := l.list()
	if err != nil || len(all[cell]) == 0 {
		return true
	}
	content, err := os.ReadFile(l.path(cell, highest(all[cell])))
	h, ok := readHolder(content)
	return err != nil || !ok || h.Brief || l.machine == "" || h.Machine != l.machine || !h.Locked
}

// unlocked reports whether nobody has the lock of a file.
func unlocked(path string) bool {
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	got, err := lock.TryLock()
	if got {
		lock.Unlock()
	}
	return got && err == nil
}

// create creates the file of a lease. It returns nil if somebody else has done so.
func (l *leases) create(cell string, n int) (*lease, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	out := &lease{all: l, number: n, path: l.path(cell, n), taken: l.clock(), holder: Holder{
		Token: rand.Text(), Cell: cell, Host: host, PID: os.Getpid(), Machine: l.machine, Brief: l.brief, Since: time.Now(),
	}}
	out.file, err = os.OpenFile(out.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out.lock = flock.New(out.path, flock.SetFlag(os.O_RDWR))
	out.holder.Locked, _ = out.lock.TryLock() // some file systems have no locks
	if err := out.write(); err != nil {
		return nil, errors.Join(err, out.release())
	}
	return out, nil
}

// write writes the lease's content.
func (l *lease) write() error {
	text, err := json.Marshal(l.holder)
	if err != nil {
		return err
	}
	content := bytes.Repeat([]byte{' '}, leaseSize)
	copy(content, text)
	content[leaseSize-1] = '\n'
	_, err = l.file.WriteAt(content, leaseOffset)
	return err
}

// readHolder reads a lease's content. It may be incomplete, if it is just being written.
func readHolder(content []byte) (h Holder, ok bool) {
	if len(content) < leaseOffset {
		return h, false
	}
	return h, json.Unmarshal(content[leaseOffset:], &h) == nil
}

// errLost says that another worker has taken over a lease, because it saw no beat for too long.
var errLost = errors.New("another worker has taken the cell over, because this one was not heard of for too long")

// beat shows that the holder is alive and how far it has come.
func (l *lease) beat(step, steps int) error {
	if err := l.check(); err != nil {
		return err
	}
	l.holder.Beat++
	l.holder.Step, l.holder.Steps, l.holder.Seconds = step, steps, (l.all.clock() - l.taken).Seconds()
	return l.write()
}

// check returns errLost if the lease is not this worker's any more: its file is gone, or there is a later one.
func (l *lease) check() error {
	mine, err := l.mine()
	if err != nil {
		return err
	}
	all, err := l.all.list()
	if err != nil {
		return err
	}
	if !mine || highest(all[l.holder.Cell]) > l.number {
		return errLost
	}
	return nil
}

// mine reports whether the file of that name is the one that this worker created.
func (l *lease) mine() (bool, error) {
	own, err := l.file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(own, there), err
}

// release gives the lease back. If it was taken over, the new holder's file stays.
func (l *lease) release() error {
	mine, err := l.mine()
	err = errors.Join(err, l.lock.Unlock(), l.file.Close())
	if !mine {
		return err
	}
	if e := os.Remove(l.path); !errors.Is(e, fs.ErrNotExist) { // the new holder may have removed it just now
		err = errors.Join(err, e)
	}
	return err
}

// holders returns who holds which cell: the content of the latest lease of each.
func (l *leases) holders() (map[string]Holder, error) {
	all, err := l.list()
	if err != nil {
		return nil, err
	}
	out := map[string]Holder{}
	for cell, numbers := range all {
		n := highest(numbers)
		content, over, err := l.over(cell, n)
		if err != nil {
			return nil, err
		}
		if h, ok := readHolder(content); ok && !over {
			out[cell] = h
		}
	}
	return out, nil
}

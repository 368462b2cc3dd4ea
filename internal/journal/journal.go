// Package journal keeps records in the files of a folder. A record is on the disk before
// [Journal.Append] returns.
//
// The owner of a journal saves a state elsewhere from time to time. After a crash it loads the last
// state, and reads from the journal the records that this state does not have: [Journal.Begin]
// marks in the journal which records a state has, and [Open] finds the mark of the loaded state.
//
// The files are segments. Each begins with a header, and the records follow it as frames with
// checksums (CRC-32C). A crash may leave half a frame at the end of the last segment: it was not
// acknowledged, and is cut off. Anything else that is not as it was written is [ErrDamaged].
package journal

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// Sum identifies an owner of a journal, or a state. The zero Sum stands for no state: that of an
// owner who has yet to save one.
type Sum = [sha256.Size]byte

var (
	// ErrDamaged marks errors about bytes that are not as they were written.
	ErrDamaged = errors.New("damaged journal")
	// ErrOther marks errors about a journal that does not belong to the owner or to the state.
	ErrOther = errors.New("another journal")
)

// Journal is a folder of segments. Any goroutine may append to it.
type Journal struct {
	dir   string
	owner Sum
	lock  *flock.Flock

	mu      sync.Mutex // held while something is appended
	waiting []*entry   // in the order in which they are to be written

	writing  sync.Mutex // held while segments are written, or come and go
	segments []segment  // the oldest first; the last one is written
	file     *os.File   // the last segment; nil if it must not be written any more
	size     int64      // of what is good in file
	last     uint64     // the number of the last record; they count from 1
	covered  uint64     // the last record that is part of the state given to Open

	bytes atomic.Int64 // of records since the last state that was saved

	disk disk
}

// disk does what may fail. Tests replace it.
type disk struct {
	write    func(*os.File, []byte) (int, error)
	sync     func(*os.File) error
	truncate func(*os.File, int64) error
}

// entry is a record that is to be written.
type entry struct {
	record []byte
	then   func()
	done   bool
	err    error
}

// Open opens the journal in a folder, which belongs to it until [Journal.Close]. It checks all that
// is there. Records that the state has are dropped, and the others are read by [Journal.Each].
func Open(dir string, owner, state Sum) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil { // less the umask
		return nil, err
	}
	j := &Journal{dir: dir, owner: owner, disk: disk{(*os.File).Write, (*os.File).Sync, (*os.File).Truncate}}
	j.lock = flock.New(filepath.Join(dir, "lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
	switch ours, err := j.lock.TryLock(); {
	case err != nil:
		return nil, err
	case !ours:
		return nil, errors.Join(fmt.Errorf("another process writes the journal %s", dir), j.lock.Close())
	}
	if err := j.open(state); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Journal) open(state Sum) error {
	if err := j.sweep(); err != nil {
		return err
	}
	all, err := read(j.dir)
	if err != nil {
		return err
	}
	if j.segments, err = since(j.dir, all, state); err != nil {
		return err
	}
	if len(j.segments) > 0 {
		if j.segments[0].owner != j.owner {
			return fmt.Errorf("%w: the records in %s are of a learner with other options", ErrOther, j.dir)
		}
		end := j.segments[len(j.segments)-1]
		j.last, j.covered = end.next()-1, j.segments[covering(j.segments, state)].covers
		if end.torn() {
			if err := os.Truncate(end.path(j.dir), end.good); err != nil {
				return err
			}
		}
	}
	for _, s := range all {
		if !slices.ContainsFunc(j.segments, func(kept segment) bool { return kept.number == s.number }) {
			j.last = max(j.last, s.next()-1)
			if err := os.Remove(s.path(j.dir)); err != nil {
				return err
			}
		}
	}
	if len(j.segments) == 0 {
		j.covered = j.last
	}
	for _, s := range j.segments {
		j.bytes.Add(s.good - headerSize)
	}
	if err := j.begin(state, j.covered); err != nil {
		return err
	}
	return j.drop(j.segments[len(j.segments)-1].number, j.covered, 0)
}

// sweep removes what was left by a process that was killed while it began a segment.
func (j *Journal) sweep() error {
	left, err := filepath.Glob(filepath.Join(j.dir, ".*"+ending+".*.tmp"))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// begin begins a segment, behind a state that has all records up to covers.
func (j *Journal) begin(state Sum, covers uint64) error {
	s := segment{header: header{j.owner, state, covers, j.last + 1}, number: 1, good: headerSize}
	if n := len(j.segments); n > 0 {
		s.number = j.segments[n-1].number + 1
	}
	name := s.path(j.dir)
	if err := atomicfile.WriteBytes(name, s.header.encode()); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(j.dir); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if j.file != nil {
		j.file.Close() // which has been synced
	}
	j.segments, j.file, j.size = append(j.segments, s), file, headerSize
	return nil
}

// Append writes a record, and returns when it is on the disk, or was not written: then an error
// says why. Records that come while others are written are written together, with one call of
// fsync.
//
// check, if it is not nil, is called before the record gets its place among the others; if it
// fails, nothing is written. then, if it is not nil, is called when the record is on the disk. The
// calls of each come in the order of the records.
func (j *Journal) Append(record []byte, check func() error, then func()) error {
	e := &entry{record: record, then: then}
	j.mu.Lock()
	if check != nil {
		if err := check(); err != nil {
			j.mu.Unlock()
			return err
		}
	}
	j.waiting = append(j.waiting, e)
	j.mu.Unlock()
	j.writing.Lock()
	defer j.writing.Unlock()
	if !e.done { // and was not written by another's call
		j.write()
	}
	return e.err
}

// write writes all that waits.
func (j *Journal) write() {
	j.mu.Lock()
	group := j.waiting
	j.waiting = nil
	j.mu.Unlock()
	var frames []byte
	for i, e := range group {
		frames = appendFrame(frames, j.last+1+uint64(i), e.record)
	}
	err := j.commit(frames)
	if err == nil {
		j.last += uint64(len(group))
		j.segments[len(j.segments)-1].records += uint64(len(group))
	}
	for _, e := range group {
		if e.done, e.err = true, err; err == nil && e.then != nil {
			e.then()
		}
	}
}

// commit writes frames to the disk, completely or not at all. After an error of fsync nobody knows
// what the disk has: the segment is not written again, and another one begins, behind the records
// that were acknowledged.
func (j *Journal) commit(frames []byte) error {
	if j.file == nil {
		if err := j.goOn(); err != nil {
			return err
		}
	}
	_, err := j.disk.write(j.file, frames)
	if err == nil {
		err = j.disk.sync(j.file)
	} else if j.disk.truncate(j.file, j.size) == nil && j.disk.sync(j.file) == nil {
		return err // and the segment is as it was before
	}
	if err != nil {
		j.file.Close()
		j.file = nil
		_ = j.goOn() // if this fails, too, the next call tries again
		return err
	}
	j.size += int64(len(frames))
	j.bytes.Add(int64(len(frames)))
	return nil
}

// goOn begins another segment in place of one that must not be written any more. Bytes of the old
// one behind its acknowledged records do not count.
func (j *Journal) goOn() error { return j.begin(unsaved, 0) }

// unsaved stands in the header of a segment that does not begin with a state. No state has this
// sum.
var unsaved = sha256.Sum256([]byte("a segment that goes on after a failure"))

// Last returns the number of the last record.
func (j *Journal) Last() uint64 {
	j.writing.Lock()
	defer j.writing.Unlock()
	return j.last
}

// Bytes returns the size of the records since the last state that was saved. It does not wait for
// the disk.
func (j *Journal) Bytes() int64 { return j.bytes.Load() }

// Covered returns the number of the last record that is part of the state given to [Open].
func (j *Journal) Covered() uint64 { return j.covered }

// Begin marks that a state has all records up to covers. Call it before the state is saved; when it
// is on the disk, saved drops what is no longer needed. If it cannot be saved, the state before it
// and all records are still there.
func (j *Journal) Begin(state Sum, covers uint64) (saved func() error, err error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.begin(state, covers); err != nil {
		return nil, err
	}
	number, before := j.segments[len(j.segments)-1].number, j.bytes.Load()
	return func() error { return j.drop(number, covers, before) }, nil
}

// drop removes the segments before a number that have no records behind covers.
func (j *Journal) drop(number int, covers uint64, bytes int64) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.bytes.Add(-bytes)
	for len(j.segments) > 1 && j.segments[0].number < number && j.segments[1].first <= covers+1 {
		if err := os.Remove(j.segments[0].path(j.dir)); err != nil {
			return err
		}
		j.segments = j.segments[1:]
	}
	return nil
}

// Close gives the folder back.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	return cmp.Or(err, j.lock.Close())
}

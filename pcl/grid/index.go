package grid

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Index knows what the workers' files say about each cell.
type Index struct {
	folder Folder
	read   map[string]int64 // of each file, up to where
	torn   map[string]int   // of each file, bytes of an incomplete last line
	cells  map[string]*history
	times  *estimates
	// Damaged says in sentences which records could not be read.
	Damaged []string
}

// history is what has become of a cell.
type history struct {
	attempts map[int]attempt
	latest   int // number of the latest attempt
	done     []place
	diverged bool
}

// attempt is one go at a cell.
type attempt struct {
	end         event // stopped, failed or done; started if nothing more is known
	from        int   // step at which it started
	step, steps int   // how far it came, if it was stopped
	reason      string
}

// place is where a record is.
type place struct {
	file   string
	offset int64
	length int
}

// Index reads the files of all workers.
func (f Folder) Index() (*Index, error) {
	x := &Index{folder: f, read: map[string]int64{}, torn: map[string]int{}, cells: map[string]*history{}, times: newEstimates()}
	return x, x.Refresh()
}

// Refresh reads what was written since the last time.
func (x *Index) Refresh() error {
	entries, err := os.ReadDir(x.folder.path(recordDir))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		if err := x.refresh(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads the new lines of a file. The file is opened each time because that is what makes a network file
// system show what other machines have written.
func (x *Index) refresh(name string) error {
	f, err := os.Open(x.folder.path(recordDir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(x.read[name], io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			x.torn[name] = len(text)
			return nil
		}
		r, err := decode(text[:end])
		if err != nil {
			x.Damaged = append(x.Damaged, fmt.Sprintf("A record of %s, at byte %d, is %v. It does not count; if it was a result, its cell will be made again.", name, x.read[name], err))
		} else {
			x.apply(r, place{name, x.read[name], end})
		}
		x.read[name] += int64(end) + 1
		text = text[end+1:]
	}
}

// Torn says in sentences which files end with an incomplete record.
func (x *Index) Torn() (notes []string) {
	for name, n := range x.torn {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("The last record of %s is incomplete and does not count (%d bytes): its worker was killed while it wrote, or is just writing it.", name, n))
		}
	}
	slices.Sort(notes)
	return notes
}

// apply takes in a record.
func (x *Index) apply(r record, at place) {
	if r.Cell == "" {
		return
	}
	h := x.cells[r.Cell]
	if h == nil {
		h = &history{attempts: map[int]attempt{}}
		x.cells[r.Cell] = h
	}
	h.latest = max(h.latest, r.Attempt)
	a := h.attempts[r.Attempt]
	switch r.Event {
	case started:
		if a.end == "" {
			a.end = started
		}
		a.from = r.Step
	case stopped:
		a.end, a.step, a.steps = stopped, r.Step, r.Steps
	case failed:
		a.end, a.reason = failed, r.Reason
	case done:
		a.end = done
		h.done = append(h.done, at)
		h.diverged = r.Diverged
		x.times.add(r.Kind, r.Wider, r.Seconds)
	}
	h.attempts[r.Attempt] = a
}

// state is how things stand with a cell, whether or not a worker is at it.
type state int

const (
	fresh     state = iota // nobody has begun it
	begun                  // somebody has, and did not finish it
	broken                 // it failed
	completed              // it has a result
)

// state returns how things stand with a cell, and what is known of its latest attempt.
func (x *Index) state(cell string) (state, attempt) {
	h := x.cells[cell]
	if h == nil {
		return fresh, attempt{}
	}
	latest := h.attempts[h.latest]
	switch {
	case len(h.done) > 0:
		return completed, latest
	case latest.end == failed:
		return broken, latest
	}
	return begun, latest
}

// failures returns how often a cell without a result has failed, also if it was begun once more since.
func (x *Index) failures(cell string) int {
	h, n := x.cells[cell], 0
	if h == nil || len(h.done) > 0 {
		return 0
	}
	for _, a := range h.attempts {
		if a.end == failed {
			n++
		}
	}
	return n
}

// attempts returns how often a cell was begun.
func (x *Index) attempts(cell string) int {
	if h := x.cells[cell]; h != nil {
		return h.latest
	}
	return 0
}

// deaths returns how many workers in a row, up to the last one, ended at a cell without a word and without having
// saved more than the step that the first of them began at.
func (x *Index) deaths(cell string) int {
	h, n := x.cells[cell], 0
	if h == nil {
		return 0
	}
	for i := h.latest; i >= 1 && h.attempts[i].end == started && h.attempts[i].from == h.attempts[h.latest].from; i-- {
		n++
	}
	return n
}

// load reads a record again.
func (x *Index) load(at place) (record, error) {
	f, err := os.Open(x.folder.path(recordDir, at.file))
	if err != nil {
		return record{}, err
	}
	defer f.Close()
	text := make([]byte, at.length)
	if _, err := f.ReadAt(text, at.offset); err != nil {
		return record{}, err
	}
	r, err := decode(text)
	if err != nil {
		return record{}, fmt.Errorf("%s, at byte %d: %w", at.file, at.offset, err)
	}
	return r, nil
}

// Notes says in sentences what a reader of the results should know about the files they come from.
func (x *Index) Notes() []string { return slices.Concat(x.Damaged, x.Torn()) }

// short is the beginning of an ID or a reason, for messages of one line.
func short(text string) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more {
		first += " …"
	}
	return first
}

package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"syscall"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/journal"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// record is what the journal has of a request: a line of JSON, and behind it the values of samples.
type record struct {
	Verb    string   `json:"verb"` // the path of the request
	Task    int      `json:"task"`
	Name    string   `json:"name,omitempty"`
	Classes []int    `json:"classes,omitempty"` // of the task, or of each sample
	Names   []string `json:"names,omitempty"`
	Keep    bool     `json:"keep,omitempty"`
	Fetched int      `json:"fetched,omitempty"` // how many samples of a detached task training had fetched
	values  []float32
}

func (r record) encode() []byte {
	line, _ := json.Marshal(r) // of such a struct there is no error
	text, _ := binary.Append(append(line, '\n'), binary.LittleEndian, r.values)
	return text
}

func decodeRecord(text []byte) (r record, err error) {
	line, values, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	r.values, err = floats(values)
	return r, err
}

// openJournal opens the journal that belongs to the learner and to the state that was loaded.
func (s *Service) openJournal(state journal.Sum) (err error) {
	folder, mark := s.options.Journal, s.options.File+".journal"
	if folder == "" {
		at, err := os.ReadFile(mark)
		if err == nil {
			err = fmt.Errorf("there is a journal of %s in %s, which has what came after its last save: name it in "+
				"Options.Journal, or remove %s to give it up", s.options.File, bytes.TrimSpace(at), mark)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	if s.journal, err = journal.Open(folder, s.owner(), state); err != nil {
		return err
	}
	lock := s.unlock
	s.unlock = func() error { return errors.Join(s.journal.Close(), lock()) }
	s.replayed = s.journal.Covered()
	return atomicfile.WriteBytes(mark, []byte(folder+"\n"))
}

// leaveJournal notes that the file has all that the journal has, so that a service may do without
// it.
func (s *Service) leaveJournal() error {
	if s.journal == nil {
		return nil
	}
	return os.Remove(s.options.File + ".journal")
}

// owner tells learners apart for which the same records mean something else.
func (s *Service) owner() journal.Sum {
	return sha256.Sum256(fmt.Appendf(nil, "%d inputs, increment %s", s.width(), s.learner.Options().Increment))
}

// sumOf tells states apart: it has the steps, the draws, and the samples that wait.
func sumOf(state pcl.State) journal.Sum { return sha256.Sum256(state.JSON) }

// keep writes down what a request asks for, and then does it. If check fails, nothing is written;
// between the two calls the order of requests stays. Call it with s.still held for reading. Without
// a journal, keep only calls both.
func (s *Service) keep(r record, check func() error, then func()) error {
	var refused error
	first := func() error {
		if check != nil {
			refused = check()
		}
		return refused
	}
	if s.journal == nil {
		if first() == nil {
			then()
		}
		return refused
	}
	err := s.journal.Append(r.encode(), first, then)
	if err == nil || refused != nil {
		return err
	}
	status := http.StatusServiceUnavailable
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		status = http.StatusInsufficientStorage
	}
	return statusError{fmt.Errorf("the journal cannot be written, so that this is not kept: %w", err), status}
}

// current fails if a stream is not the one of its task any more.
func (s *Service) current(id int, stream *data.PushStream) error {
	if now, err := s.stream(onTask{id}); err != nil || now != stream {
		return data.ErrEnded
	}
	return nil
}

// take keeps samples, and gives them to a stream, which has reserved room for them.
func (s *Service) take(id int, stream *data.PushStream, values []float32, classes []int) error {
	s.still.RLock()
	defer s.still.RUnlock()
	reserved, failed := len(classes), error(nil)
	err := s.keep(record{Verb: "learn", Task: id, Classes: classes, values: values},
		func() error { return s.current(id, stream) },
		func() {
			if failed = stream.Fill(reserved, values, classes...); failed == nil && s.journal != nil {
				s.saved.add(id, len(classes))
			}
			reserved = 0
		})
	if reserved > 0 {
		_ = stream.Fill(reserved, nil)
	}
	return errors.Join(err, failed)
}

// mostKept is how many bytes the journal may have before the learner is saved earlier than usual: a
// start does again what they say.
const mostKept = 256 << 20

// saveEarly saves the learner if the journal has become long.
func (s *Service) saveEarly() {
	if s.journal == nil || s.journal.Bytes() < s.early {
		return
	}
	if err := s.save(); err != nil {
		s.options.Log.Error("serve: the learner was not saved, and goes on", "error", err)
	}
	s.early = s.journal.Bytes() + mostKept
}

// capture returns the state of the learner, and what drops the records that it has when it has been
// saved.
func (s *Service) capture() (state pcl.State, saved func() error, err error) {
	s.still.Lock() // nothing is between the journal and the learner
	defer s.still.Unlock()
	if state, err = s.learner.State(); err != nil || s.journal == nil {
		return state, func() error { return nil }, err
	}
	covers := s.replayed
	if s.isWhole() {
		covers = s.journal.Last()
	}
	saved, err = s.journal.Begin(sumOf(state), covers)
	return state, saved, err
}

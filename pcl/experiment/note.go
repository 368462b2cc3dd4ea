package experiment

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// ErrFailed says that a run has failed, now or before, in a folder that processes share; the folder
// keeps the reason.
var ErrFailed = errors.New("failed")

// noteFile is the name of the file that says who worked in a folder that processes share.
const noteFile = "work.json"

// note says which process worked on a run last, and how that ended.
type note struct {
	Program string    `json:"program,omitempty"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Begun   time.Time `json:"begun,omitzero"`
	From    int       `json:"from,omitempty"`   // the step at which it began
	Deaths  int       `json:"deaths,omitempty"` // how many processes in a row ended without a word before they saved any progress
	Left    bool      `json:"left,omitempty"`   // whether the process ended its work on the run by itself
	Failed  string    `json:"failed,omitempty"` // why the run cannot be made
}

// readNote returns the note in a folder. One that cannot be read counts as none.
func readNote(dir string) (n note) {
	data, err := regular.ReadFile(filepath.Join(dir, noteFile))
	if err != nil || json.Unmarshal(data, &n) != nil {
		return note{}
	}
	return n
}

func (n note) save(dir string) error {
	data, _ := json.Marshal(n) // of a note there is no error
	return atomicfile.WriteBytes(filepath.Join(dir, noteFile), append(data, '\n'))
}

// failure is the error of a run that has failed.
func (n note) failure(dir string) error {
	if n.Failed == "" {
		return nil
	}
	return fmt.Errorf("the run in %s %w: %s", dir, ErrFailed, n.Failed)
}

// before returns the note in the folder of a run. It fails with [ErrFailed] if the run has failed
// and is not to be made again.
func (s Store) before(dir string) (note, error) {
	n := readNote(dir)
	if s.Replace && n.Failed != "" {
		return note{}, nil
	}
	if err := n.failure(dir); err != nil {
		return note{}, err
	}
	return n, nil
}

// arrive writes down that this process works on the run, unless it has failed.
func (r *runner) arrive() (note, error) {
	before, err := r.work.before(r.dir)
	if err != nil {
		return note{}, err
	}
	n := note{Program: r.program, PID: os.Getpid(), Begun: time.Now(), From: savedStep(r.dir)}
	n.Host, _ = os.Hostname()
	switch {
	case r.lock.open:
		r.work.say("The file system of %s has no locks: processes may make the same run there, of which the last result "+
			"stays.", r.dir)
	case !before.Begun.IsZero() && !before.Left && n.From <= before.From:
		n.Deaths = before.Deaths + 1
	}
	if n.Deaths >= r.work.Attempts {
		n.Left = true
		n.Failed = fmt.Sprintf("%d processes in a row ended at it without a word, as if they had been killed or had run "+
			"out of memory", n.Deaths)
	}
	if err := cmp.Or(n.save(r.dir), n.failure(r.dir)); err != nil {
		return note{}, err
	}
	return n, nil
}

// leave writes down how the work on the run ended, and ends with its error, which is [ErrFailed]
// unless the run can be made later or elsewhere.
func (r *runner) leave(n note, err error) error {
	n.Left, n.Deaths = true, 0
	if err != nil && r.ctx.Err() == nil && !passing(err) {
		n.Failed = err.Error()
		err = n.failure(r.dir)
	}
	return errors.Join(err, n.save(r.dir))
}

// passing says whether an error is of the machine, or of this process, and not of the run.
func passing(err error) bool {
	return errors.Is(err, ErrInterrupted) || errors.Is(err, ErrData) || errors.Is(err, errUnsaved) || isFull(err)
}

// savedStep returns the step of the newest checkpoint in a folder, or 0.
func savedStep(dir string) int {
	saved, err := series{dir: dir}.list()
	if err != nil || len(saved) == 0 {
		return 0
	}
	return stepOf(saved[len(saved)-1])
}

// State is how far a run is.
type State struct {
	Run     *results.Run // nil if it is not finished
	Program string       // that worked on it last, where processes share folders
	Holder  string       // the process that works on it; empty if none does
	Step    int          // that was saved
	Failed  string       // why it cannot be made
}

// Inspect says how far the run of a configuration in a folder is.
func Inspect(dir string, c Config) (s State, err error) {
	n := readNote(dir)
	s.Program = n.Program
	switch s.Run, err = finished(dir, c); {
	case errors.Is(err, ErrForeign):
		s.Failed = err.Error()
		return s, nil
	case err != nil || s.Run != nil:
		return s, err
	}
	if h, held := heldBy(dir); held {
		s.Holder = h.String()
	}
	s.Failed, s.Step = n.Failed, savedStep(dir)
	return s, nil
}

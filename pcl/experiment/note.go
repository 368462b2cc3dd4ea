package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/folder"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// NoteFile is the name of the file that says who worked in a folder that processes share.
const NoteFile = "work.json"

// Note says which process worked on a run last, and how that ended.
type Note struct {
	Program string    `json:"program,omitempty"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Begun   time.Time `json:"begun,omitzero"`
	From    int       `json:"from,omitempty"`   // the step at which it began
	Deaths  int       `json:"deaths,omitempty"` // how many processes in a row ended without a word before they saved any progress
	Left    bool      `json:"left,omitempty"`   // whether the process ended its work on the run by itself
	Failed  string    `json:"failed,omitempty"` // why the run cannot be made
}

func readNote(dir string) (n Note, err error) {
	data, err := os.ReadFile(filepath.Join(dir, NoteFile))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		err = fmt.Errorf("pcl: %s: %w", filepath.Join(dir, NoteFile), err)
	}
	return n, err
}

func (n Note) save(dir string) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, NoteFile), append(data, '\n'))
}

// FailedError says that a run has failed, now or before; its folder keeps the reason until [Retry].
type FailedError struct {
	Dir    string
	Reason string
}

func (e *FailedError) Error() string { return fmt.Sprintf("the run in %s failed: %s", e.Dir, e.Reason) }

// hopeful returns the note in a folder, and a [FailedError] if its run has failed.
func hopeful(dir string) (Note, error) {
	n, err := readNote(dir)
	if err == nil && n.Failed != "" {
		err = &FailedError{dir, n.Failed}
	}
	return n, err
}

// arrive writes down that this process works on the run, unless it has failed.
func (f *runFolder) arrive(w *Where) error {
	f.shared = w
	n, err := hopeful(f.dir)
	if err != nil {
		return err
	}
	if f.lock.Open {
		w.say(fmt.Sprintf("The file system of %s has no locks: processes may make the same run there, of which the last result stays.", f.dir))
	}
	from := savedStep(f.dir)
	deaths := 0
	if !n.Begun.IsZero() && !n.Left && from <= n.From && !f.lock.Open {
		deaths = n.Deaths + 1
	}
	f.note = Note{Program: f.program, PID: os.Getpid(), Begun: time.Now(), From: from, Deaths: deaths}
	f.note.Host, _ = os.Hostname()
	if deaths >= w.Attempts {
		f.note.Left = true
		return f.failed(fmt.Sprintf("%d processes in a row ended at it without a word, as if they had been killed or had run out of memory", deaths))
	}
	return f.note.save(f.dir)
}

// leave writes down how the work on the run ended, and returns its error, which is a [FailedError] unless the run can
// be made later or elsewhere. If there is a result, it is written, and only what is no longer needed could not be removed.
func (f *runFolder) leave(ctx context.Context, out *results.Run, err error) error {
	if out != nil && err != nil {
		f.shared.say(fmt.Sprintf("The run in %s is finished, but: %v.", f.dir, err))
		err = nil
	}
	f.note.Left, f.note.Deaths = true, 0
	if err != nil && ctx.Err() == nil && !passing(err) {
		return f.failed(err.Error())
	}
	return errors.Join(err, f.note.save(f.dir))
}

// passing says whether an error is of the machine, or of this process, and not of the run.
func passing(err error) bool {
	return errors.Is(err, ErrInterrupted) || errors.Is(err, ErrInit) || errors.Is(err, ErrData) || isFull(err) ||
		errors.As(err, new(*UnsavedError)) || errors.As(err, new(*DamagedError))
}

func (f *runFolder) failed(reason string) error {
	f.note.Failed = reason
	if err := f.note.save(f.dir); err != nil {
		return err
	}
	return &FailedError{f.dir, reason}
}

// savedStep returns the step of the newest checkpoint in a folder, or 0.
func savedStep(dir string) int {
	saved, err := checkpoint.Series{Dir: dir}.List()
	if err != nil || len(saved) == 0 {
		return 0
	}
	return checkpoint.Step(saved[len(saved)-1])
}

// Retry forgets that the run in a folder has failed.
func Retry(dir string) error {
	n, err := readNote(dir)
	if n.Failed == "" || err != nil {
		return err
	}
	return Note{Program: n.Program}.save(dir)
}

// State is how far a run is.
type State struct {
	Run    *results.Run // nil if it is not finished
	Note   Note
	Holder string // the process that works on it; empty if none does
	Step   int    // that was saved
	Failed string // why it cannot be made
}

// Look says how far the run of a configuration in a folder is.
func Look(dir string, c Config) (s State, err error) {
	if s.Note, err = readNote(dir); err != nil {
		return s, err
	}
	switch s.Run, err = Finished(dir, c); {
	case errors.Is(err, ErrForeign):
		s.Failed = err.Error()
		return s, nil
	case err != nil || s.Run != nil:
		return s, err
	}
	if h, held := folder.Held(dir); held {
		s.Holder = h.String()
	}
	s.Failed, s.Step = s.Note.Failed, savedStep(dir)
	return s, nil
}

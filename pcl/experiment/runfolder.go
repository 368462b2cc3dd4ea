package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/folder"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// ReplacementDir is the folder, within that of a run, where the run is made anew while what it will replace is
// still kept.
const ReplacementDir = "replacement"

// What [Run] and [Ready] may find in a run's folder. errors.Is tells them apart.
var (
	// ErrInUse: another process works there; the message says which.
	ErrInUse = folder.ErrHeld
	// ErrUnfinished: the run is saved there, and the options don't say what to do with it.
	ErrUnfinished = errors.New("an unfinished run")
	// ErrForeign: the result there is not this run's.
	ErrForeign = errors.New("not this run's result")
	// ErrUnrecorded: the run is finished, without the records or arrays that are asked for.
	ErrUnrecorded = errors.New("finished without records")
)

// runFolder is the folder of a run that this process works in.
type runFolder struct {
	dir  string // empty: the run leaves no files
	work string // where it is being made: dir, or the replacement's folder in it
	lock *folder.Lock
}

// Ready says what [Run] will find in o.Dir, before data are read and programs compiled: the run's result where it
// is finished, nil where there is something to do, or the error for which Run will refuse to begin. Backend and
// Dataset may be missing.
func Ready(c Config, o RunOptions) (*results.Run, error) {
	if err := errors.Join(c.Validate(), o.validate()); err != nil {
		return nil, err
	}
	if o.Dir == "" {
		return nil, nil
	}
	if _, err := os.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, inFolder(folder.Writable(o.Dir))
	}
	f, finished, err := takeFolder(c, o)
	if f != nil {
		err = f.release()
	}
	return finished, err
}

// takeFolder takes the run's folder and decides where in it the run is made. Where the run is finished it returns
// the result instead.
func takeFolder(c Config, o RunOptions) (*runFolder, *results.Run, error) {
	if o.Dir == "" {
		return &runFolder{}, nil, nil
	}
	f := &runFolder{dir: o.Dir, work: o.Dir}
	if finished, err := f.finished(c, o); err != nil || finished != nil && !f.replaced() {
		return nil, finished, err // also where nothing can be written
	}
	var err error
	if f.lock, err = folder.Take(o.Dir); err != nil {
		return nil, nil, inFolder(err)
	}
	finished, err := f.settle(c, o)
	if err == nil && finished == nil {
		return f, nil, nil
	}
	if failed := f.release(); err == nil {
		err = failed
	}
	return nil, finished, err
}

func inFolder(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pcl: %w", err)
}

// settle brings to its end what a killed process left halfway, and decides where the run is made.
func (f *runFolder) settle(c Config, o RunOptions) (*results.Run, error) {
	if f.replaced() {
		if err := f.adopt(); err != nil {
			return nil, err
		}
	}
	if err := f.sweep(); err != nil {
		return nil, err
	}
	if finished, err := f.finished(c, o); finished != nil || err != nil {
		return finished, err
	}
	saved, err := checkpoint.Series{Dir: f.dir}.List()
	if err != nil {
		return nil, err
	}
	anew := filepath.Join(f.dir, ReplacementDir)
	switch {
	case o.Resume:
		if o.Replace && (exists(f.dir, ResultFile) || exists(anew)) {
			f.work = anew
		}
	case o.Replace:
		if begun, err := (checkpoint.Series{Dir: anew}).List(); err == nil && len(begun) > 0 {
			return nil, fmt.Errorf("pcl: %s holds %w, which was to replace another: take it up, or remove that folder", anew, unfinished(begun))
		}
		if exists(f.dir, ResultFile) || len(saved) > 0 {
			f.work = anew
		}
	case o.Checkpoint == "" && len(saved) > 0:
		return nil, fmt.Errorf("pcl: %s holds %w: resume it, or replace it", f.dir, unfinished(saved))
	}
	return nil, nil
}

func unfinished(saved []string) error {
	return fmt.Errorf("%w, saved at step %d", ErrUnfinished, checkpoint.Step(saved[len(saved)-1]))
}

// finished returns the run's result if it is there and is to be kept.
func (f *runFolder) finished(c Config, o RunOptions) (*results.Run, error) {
	if o.Replace {
		return nil, nil
	}
	r, err := Finished(f.dir, c)
	if r == nil || err != nil {
		return nil, err
	}
	if o.Record && !exists(f.dir, RecordFile) || o.RecordArrays > 0 && !exists(f.dir, ArraysDir) {
		return nil, fmt.Errorf("pcl: %s holds the run %w: replace it to have them", f.dir, ErrUnrecorded)
	}
	return r, nil
}

// Finished returns the result of a run that is finished in a folder, nil where there is none, and an error that
// is [ErrForeign] where there is something else in its place.
func Finished(dir string, c Config) (*results.Run, error) {
	path := filepath.Join(dir, ResultFile)
	r, err := results.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case errors.As(err, new(*fs.PathError)):
		return nil, fmt.Errorf("pcl: %w", err)
	case err != nil:
		return nil, fmt.Errorf("pcl: %w: %w", ErrForeign, err)
	}
	config, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("pcl: %w", err)
	}
	if err := r.Of(c.ID(), config); err != nil {
		return nil, fmt.Errorf("pcl: %s is %w: %w", path, ErrForeign, err)
	}
	return r, nil
}

// replaced says whether the run was made anew to its end, and not put in the old one's place yet.
func (f *runFolder) replaced() bool { return exists(f.dir, ReplacementDir, ResultFile) }

// adopt puts what was made anew in the place of the old, the result last: a process that is killed on the way
// leaves the rest to the next one.
func (f *runFolder) adopt() error {
	anew := filepath.Join(f.dir, ReplacementDir)
	for _, name := range []string{RecordFile, ArraysDir, ScenarioFile, ResultFile} {
		if !exists(anew, name) {
			continue
		}
		if name == ArraysDir {
			if err := os.RemoveAll(filepath.Join(f.dir, name)); err != nil {
				return err
			}
		}
		if err := os.Rename(filepath.Join(anew, name), filepath.Join(f.dir, name)); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(anew), checkpoint.Series{Dir: f.dir}.Clear())
}

// sweep removes the temporary files of processes that were killed.
func (f *runFolder) sweep() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(".*.tmp", e.Name()); ok {
			err = errors.Join(err, os.Remove(filepath.Join(f.dir, e.Name())))
		}
	}
	return err
}

// begin empties the folder in which the run is made of what it is not to go on from. What lies in the run's own
// folder beside neither a result nor a checkpoint belongs to nothing.
func (f *runFolder) begin(o RunOptions) error {
	if f.dir == "" || o.Resume || o.Checkpoint != "" {
		return nil
	}
	if f.work != f.dir {
		return os.RemoveAll(f.work)
	}
	return errors.Join(os.RemoveAll(filepath.Join(f.dir, RecordFile)), os.RemoveAll(filepath.Join(f.dir, ArraysDir)))
}

// complete has the run's files, of which the result was written last, take their place.
func (f *runFolder) complete() error {
	if f.work == f.dir {
		return checkpoint.Series{Dir: f.dir}.Clear()
	}
	for _, name := range []string{RecordFile, ArraysDir} {
		if !exists(f.work, name) { // that of the old run would be taken for this one's
			if err := os.RemoveAll(filepath.Join(f.dir, name)); err != nil {
				return err
			}
		}
	}
	return f.adopt()
}

// check says whether the folder can still be written to as this run's.
func (f *runFolder) check() error {
	if f.lock == nil {
		return nil
	}
	return inFolder(f.lock.Check())
}

func (f *runFolder) release() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Release()
}

func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

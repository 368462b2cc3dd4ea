package experiment

import (
	"cmp"
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

// These errors say what [Run] and [Ready] found in a run's folder. Test for them with errors.Is.
var (
	// ErrInUse says that another process works in the folder; the message says which.
	ErrInUse = folder.ErrHeld
	// ErrUnfinished says that the run was saved there unfinished, and the options don't say what to do with it.
	ErrUnfinished = errors.New("an unfinished run")
	// ErrForeign says that what is there belongs to a different run, or was made by a program that may compute something else.
	ErrForeign = errors.New("not this run's result")
	// ErrUnrecorded says that the run is finished, but without the records, arrays or weights that are asked for.
	ErrUnrecorded = errors.New("finished without records")
)

// runFolder is the folder of a run that this process works in.
type runFolder struct {
	dir  string // empty if the run writes no files
	lock *folder.Lock

	program string // which this is
	shared  *Where // if other processes share the folder
	note    Note   // that this process has there then
}

// Ready looks into o.Dir before any data are read or programs compiled. It returns the run's result if the run is
// finished, nil if the run can be made, or the error for which [Run] would refuse to start. o.Backend and o.Dataset
// may be missing.
func Ready(c Checked, o RunOptions) (*results.Run, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Dir == "" {
		return nil, nil
	}
	if _, err := os.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, folder.Writable(o.Dir)
	}
	f, finished, err := takeFolder(c.Config, o)
	if f != nil {
		err = f.release()
	}
	return finished, err
}

// takeFolder locks the run's folder and decides where in it the run is made. If the run is finished, it returns the
// result instead.
func takeFolder(c Config, o RunOptions) (*runFolder, *results.Run, error) {
	f, err := newFolder(o.Dir, c)
	if err != nil || o.Dir == "" {
		return f, nil, err
	}
	if finished, err := f.finished(c, o); err != nil || finished != nil {
		return nil, finished, err // a finished run can be read even in a folder that cannot be written to
	}
	if f.lock, err = folder.Take(o.Dir); err != nil {
		return nil, nil, err
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

// newFolder returns the folder dir of the run of a configuration, which is not locked.
func newFolder(dir string, c Config) (*runFolder, error) {
	program, err := c.program()
	if err != nil {
		return nil, fmt.Errorf("pcl: %w", err)
	}
	return &runFolder{dir: dir, program: program}, nil
}

// settle removes what a process that was killed left half written, and looks again, now that no other process works in
// the folder, whether the run is to be made.
func (f *runFolder) settle(c Config, o RunOptions) (*results.Run, error) {
	if err := f.sweep(); err != nil {
		return nil, err
	}
	if finished, err := f.finished(c, o); finished != nil || err != nil {
		return finished, err
	}
	saved, err := checkpoint.Series{Dir: f.dir}.List()
	if err == nil && len(saved) > 0 && !o.Resume && !o.Replace && o.Checkpoint == "" {
		err = fmt.Errorf("pcl: %s holds %w, saved at step %d: resume it, or replace it", f.dir, ErrUnfinished, checkpoint.Step(saved[len(saved)-1]))
	}
	return nil, err
}

// finished returns the run's result if the run is finished and is not to be replaced.
func (f *runFolder) finished(c Config, o RunOptions) (*results.Run, error) {
	if o.Replace && !o.Resume {
		return nil, nil
	}
	r, err := f.result(c)
	if err == nil && r != nil {
		err = f.lacks(r, o)
	}
	switch {
	case o.Replace && (errors.Is(err, ErrForeign) || errors.Is(err, ErrUnrecorded)):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r, nil
}

// lacks returns an error if the folder of a finished run lacks a file that is asked for.
func (f *runFolder) lacks(r *results.Run, o RunOptions) error {
	arrays := min(o.RecordArrays, r.Steps)
	for _, asked := range []struct {
		is   bool
		what string
		file []string // its path in the folder
	}{
		{o.Weights, "its network", []string{WeightsFile}},
		{o.Record, "its steps", []string{RecordFile}},
		{arrays > 0, fmt.Sprintf("the batches and parameters of %d steps", arrays), []string{arraysDir, stepFile(arrays - 1)}},
	} {
		if asked.is && !exists(append([]string{f.dir}, asked.file...)...) {
			return fmt.Errorf("pcl: the run in %s is %w of %s, %s: replace it to have them", f.dir, ErrUnrecorded, asked.what, asked.file[0])
		}
	}
	return nil
}

// Finished returns the result of a run that is finished in the folder dir, or nil if there is no result. If the
// result there is not that of this run, was made by another program than this, or is not a valid result, the error is
// [ErrForeign].
func Finished(dir string, c Config) (*results.Run, error) {
	f, err := newFolder(dir, c)
	if err != nil {
		return nil, err
	}
	return f.result(c)
}

// finished returns the result that [Run] would find in o.Dir.
func (o RunOptions) finished(c Config) (*results.Run, error) {
	f, err := newFolder(o.Dir, c)
	if err != nil {
		return nil, err
	}
	return f.finished(c, o)
}

func (f *runFolder) result(c Config) (*results.Run, error) {
	path := filepath.Join(f.dir, ResultFile)
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
	if err := cmp.Or(r.Of(c.ID(), config), r.Measured.MadeBy(f.program)); err != nil {
		return nil, fmt.Errorf("pcl: %s is %w: %w", path, ErrForeign, err)
	}
	return r, nil
}

// sweep removes temporary files left by processes that were killed.
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

// begin removes what the run is not to go on from. Records and arrays without a result or a checkpoint are left over from
// a process that was killed before it saved anything.
func (f *runFolder) begin(o RunOptions) error {
	switch {
	case f.dir == "":
		return nil
	case o.Replace && (!o.Resume || exists(f.dir, ResultFile)):
		return f.empty()
	case o.Resume || o.Checkpoint != "":
		return nil
	}
	return f.clean()
}

// clean removes records and arrays: a run that starts has none yet.
func (f *runFolder) clean() error {
	if f.dir == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(filepath.Join(f.dir, RecordFile)), os.RemoveAll(filepath.Join(f.dir, arraysDir)))
}

// empty removes all that a run leaves in its folder, and no other file.
func (f *runFolder) empty() error {
	err := errors.Join(f.sweep(), checkpoint.Series{Dir: f.dir}.Clear(), f.clean())
	for _, name := range []string{WeightsFile, scenarioFile, ResultFile} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, name)))
	}
	return err
}

// discard removes the files of a run from its folder, finished or not, and leaves all other files alone. If another process
// works there, the error is [ErrInUse].
func discard(dir string) (err error) {
	if !exists(dir) {
		return nil
	}
	lock, err := folder.Take(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	f := &runFolder{dir: dir}
	return errors.Join(f.empty(), os.RemoveAll(filepath.Join(dir, NoteFile)))
}

// check returns an error if the folder is no longer the one that this process locked.
func (f *runFolder) check() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Check()
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

package experiment

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// ErrForeign says that what is in the folder of a run, finished or saved, belongs to a different
// run, or was made by a program, on files or on a processor that may give something else.
var ErrForeign = errors.New("not this run's result")

// Finished returns the result that [Each] finds in the folder of a run. It is nil if the run has to
// be made.
func (s Store) Finished(c Checked) (*results.Run, error) { return s.finished(c.config) }

func (s Store) finished(c Config) (*results.Run, error) {
	dir := s.folder(c)
	if dir == "" {
		return nil, nil
	}
	r, err := finished(dir, c)
	if r != nil && (s.lacks(dir, r.Steps) || s.Weights && !exists(dir, weightsFile)) {
		r, err = nil, fmt.Errorf("pcl: the run in %s is finished, but %w", dir, errLacks)
	}
	// another process has just removed it
	if s.replaces(err) || errors.Is(err, errLacks) && !exists(dir, results.ResultFile) {
		return nil, nil
	}
	return r, err
}

// replaces says whether a run is made again, for which such an error is the reason.
func (s Store) replaces(err error) bool {
	return s.Replace && errors.Is(err, ErrForeign) || (s.Replace || s.complete) && errors.Is(err, errLacks)
}

// folder returns the folder of a run; it is empty if runs leave no files.
func (s Store) folder(c Config) string {
	if s.Dir == "" {
		return ""
	}
	return filepath.Join(s.Dir, c.Folder())
}

// lacks says whether records or arrays are asked for that a run has not left in its folder, in
// which it has made so many steps.
func (s Store) lacks(dir string, steps int) bool {
	arrays := min(s.RecordArrays, steps)
	return s.Record && !exists(dir, results.RecordsFile) || arrays > 0 && !exists(dir, arraysDir, stepFile(arrays-1))
}

// finished returns the result of a run that is finished in a folder, or nil if there is none. If it
// is not that of this run, was made by another program than this, or is not a valid result, the
// error is [ErrForeign].
func finished(dir string, c Config) (*results.Run, error) {
	path := filepath.Join(dir, results.ResultFile)
	r, err := results.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case errors.As(err, new(*fs.PathError)):
		return nil, fmt.Errorf("pcl: %w", err)
	case err == nil:
		program, unknown := c.program()
		if err = cmp.Or(unknown, c.differs(r), r.Measured.MadeBy(program)); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("pcl: %w: %w", ErrForeign, err)
	}
	return r, nil
}

// differs returns an error that says what differs if a run is of another configuration.
func (c Config) differs(r *results.Run) error {
	config, _ := json.Marshal(c)
	own, want := r.Settings(), (&results.Run{Config: config}).Settings()
	names := results.Differing(own, want)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%.13s, not %.13s)", name, own[name], want[name]) // a checksum's beginning is enough
	}
	switch {
	case len(names) > 0:
		return fmt.Errorf("its configuration has another %s", strings.Join(names, ", "))
	case r.ID != c.ID():
		return fmt.Errorf("its id is %s, this run's is %s", r.ID, c.ID())
	}
	return nil
}

// Discard removes what a run has left in its folder, finished or not, and no other file, so that
// [Each] makes it from its beginning. If another process works there, that is an error.
func (s Store) Discard(c Checked) error {
	dir := s.folder(c.config)
	if !exists(dir) {
		return nil
	}
	lock, err := takeLock(dir)
	if err != nil {
		return err
	}
	defer lock.release()
	return errors.Join(sweep(dir), empty(dir), os.RemoveAll(filepath.Join(dir, noteFile)))
}

// empty removes what a run leaves in its folder. The result goes first: whoever finds one finds all
// that it came with, and a checkpoint what it goes on from.
func empty(dir string) error {
	err := errors.Join(os.RemoveAll(filepath.Join(dir, results.ResultFile)), series{dir: dir}.clear())
	for _, name := range []string{results.RecordsFile, arraysDir, weightsFile, scenarioFile} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return err
}

// sweep removes temporary files left by processes that were killed.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match(".*.tmp", e.Name()); ok {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

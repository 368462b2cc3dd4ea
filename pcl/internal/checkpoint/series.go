package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

const pattern = "checkpoint-[0-9]*[0-9].pcl" // as Save names them, and no others in the folder

// leftover is what a process that was killed while it wrote a checkpoint leaves behind.
const leftover = ".checkpoint-*.tmp"

// Series is the checkpoints of one run in a folder, of which the last Keep are kept, at least one.
type Series struct {
	Dir  string
	Keep int
}

// Save writes the checkpoint of a step and removes those beyond the last Keep. It also removes those of later
// steps: they are of a course that was left when the run was taken up at an earlier checkpoint, and would be
// taken for newer ones.
func (s Series) Save(step int, f File) error {
	path := filepath.Join(s.Dir, fmt.Sprintf("checkpoint-%09d.pcl", step))
	if err := Save(path, f); err != nil {
		return err
	}
	paths, err := s.List()
	if err != nil {
		return err
	}
	spent, err := s.match(leftover)
	if err != nil {
		return err
	}
	last := slices.Index(paths, path) + 1
	if last == 0 {
		return fmt.Errorf("%s was removed while it was being saved", path)
	}
	spent = append(spent, paths[last:]...)
	return remove(append(spent, paths[:max(0, last-max(1, s.Keep))]...))
}

// Step is the number of steps that had been made at a checkpoint of that name, as Save gives it; 0 for others.
func Step(path string) int {
	var step int
	if _, err := fmt.Sscanf(filepath.Base(path), "checkpoint-%d.pcl", &step); err != nil {
		return 0
	}
	return step
}

// List returns the checkpoints, oldest first.
func (s Series) List() ([]string, error) { return s.match(pattern) }

// match returns the files of the folder whose name has the pattern, sorted.
func (s Series) match(pattern string) ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			paths = append(paths, filepath.Join(s.Dir, e.Name()))
		}
	}
	return paths, nil
}

// remove removes files that may be gone already.
func remove(paths []string) (err error) {
	for _, p := range paths {
		if e := os.Remove(p); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// LatestError says that the newest checkpoint is damaged, and names the newest one before it that is whole,
// if there is one.
type LatestError struct {
	Err   error
	Whole string
}

func (e *LatestError) Error() string {
	if e.Whole == "" {
		return fmt.Sprintf("%v; no earlier checkpoint is whole: begin the run anew", e.Err)
	}
	return fmt.Sprintf("%v; the one before it, %s, is whole", e.Err, e.Whole)
}

func (e *LatestError) Unwrap() error { return e.Err }

// Latest loads the newest checkpoint. If it is damaged the error is a [LatestError].
func (s Series) Latest() (File, string, error) {
	paths, err := s.List()
	if err != nil {
		return File{}, "", err
	}
	if len(paths) == 0 {
		return File{}, "", fmt.Errorf("no checkpoint in %s: %w", s.Dir, os.ErrNotExist)
	}
	newest := paths[len(paths)-1]
	f, err := Load(newest)
	if !errors.Is(err, ErrDamaged) {
		return f, newest, err
	}
	for i := len(paths) - 2; i >= 0; i-- {
		if _, older := Load(paths[i]); older == nil {
			return File{}, "", &LatestError{err, paths[i]}
		}
	}
	return File{}, "", &LatestError{Err: err}
}

// Clear removes all checkpoints.
func (s Series) Clear() error {
	var all []string
	for _, p := range []string{pattern, leftover} {
		paths, err := s.match(p)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		all = append(all, paths...)
	}
	return remove(all)
}

package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const pattern = "checkpoint-[0-9]*[0-9].pcl" // as Save names them, and no others in the folder

// leftover is what a process that was killed while it wrote a checkpoint leaves behind.
const leftover = ".checkpoint-*.tmp"

// Series is the checkpoints of one run in a folder, of which the last Keep are kept, at least one.
type Series struct {
	Dir  string
	Keep int
}

// Save writes the checkpoint of a step and removes those beyond the last Keep.
func (s Series) Save(step int, f File) error {
	if err := Save(filepath.Join(s.Dir, fmt.Sprintf("checkpoint-%09d.pcl", step)), f); err != nil {
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
	return remove(append(spent, paths[:max(0, len(paths)-max(1, s.Keep))]...))
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

// Latest loads the newest checkpoint. If it is damaged the error names it, and the newest one
// before it that is whole.
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
			return File{}, "", fmt.Errorf("%w; the one before it is whole: --checkpoint %s takes the run up there", err, paths[i])
		}
	}
	return File{}, "", fmt.Errorf("%w; no earlier checkpoint is whole: start the run anew without --resume", err)
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

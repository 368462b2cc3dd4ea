package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// pattern matches the names that Save gives to checkpoints, and those of copies that a user has made.
const pattern = "checkpoint-[0-9]*[0-9].pcl"

// file is the name of the checkpoint of a step.
func file(step int) string { return fmt.Sprintf("checkpoint-%09d.pcl", step) }

// leftover matches the file that is left behind by a process that was killed while it wrote a checkpoint.
const leftover = ".checkpoint-*.tmp"

// Series is the checkpoints of one run in a folder. The last Keep of them are kept, but always at least one.
type Series struct {
	Dir  string
	Keep int
}

// Save writes the checkpoint of a step and removes all but the last Keep. It also removes the checkpoints of
// later steps. There are such if the run was resumed from an earlier checkpoint, and they would otherwise be
// mistaken for newer ones.
func (s Series) Save(step int, f File) error {
	path := filepath.Join(s.Dir, file(step))
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

// Step returns the number of steps in the name of a checkpoint file, or 0 if the name is not one that Save gives.
func Step(path string) int {
	var step int
	if _, err := fmt.Sscanf(filepath.Base(path), "checkpoint-%d.pcl", &step); err != nil {
		return 0
	}
	return step
}

// List returns the checkpoints, oldest first.
func (s Series) List() ([]string, error) {
	paths, err := s.match(pattern)
	return slices.DeleteFunc(paths, func(p string) bool { return filepath.Base(p) != file(Step(p)) }), err
}

// match returns the files in the folder whose names match the pattern, in the order of the numbers in their names.
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
	// From 10⁹ steps on numbers have more digits than the names have room for.
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	return paths, nil
}

// remove removes files. It is no error if one does not exist any more.
func remove(paths []string) (err error) {
	for _, p := range paths {
		if e := os.Remove(p); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Latest loads the newest checkpoint that is whole. Its path is empty if there is none. damaged says what is wrong with the
// newest one, if it is another.
func (s Series) Latest() (f File, path string, damaged, err error) {
	paths, err := s.List()
	for _, path := range slices.Backward(paths) {
		f, failed := Load(path)
		if !errors.Is(failed, ErrDamaged) {
			return f, path, damaged, failed
		}
		damaged = cmp.Or(damaged, failed)
	}
	return File{}, "", damaged, err
}

// Clear removes all checkpoints.
func (s Series) Clear() error {
	saved, err := s.List()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	spent, other := s.match(leftover)
	return errors.Join(err, other, remove(append(saved, spent...)))
}

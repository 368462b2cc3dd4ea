package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

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
	if err := Save(filepath.Join(s.Dir, file(step)), f); err != nil {
		return err
	}
	saved, spent, err := s.files()
	n, _ := slices.BinarySearchFunc(saved, step+1, func(path string, step int) int { return cmp.Compare(Step(path), step) })
	return errors.Join(err, remove(spent), remove(saved[n:]), remove(saved[:max(0, n-max(1, s.Keep))]))
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
	saved, _, err := s.files()
	return saved, err
}

// files returns the checkpoints in the folder, oldest first, and what is left over.
func (s Series) files() (saved, spent []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		path := filepath.Join(s.Dir, e.Name())
		if ok, _ := filepath.Match(leftover, e.Name()); ok {
			spent = append(spent, path)
		} else if e.Name() == file(Step(path)) { // and not a copy that a user has made
			saved = append(saved, path)
		}
	}
	slices.SortFunc(saved, func(a, b string) int { return cmp.Compare(Step(a), Step(b)) })
	return saved, spent, err
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
	saved, spent, err := s.files()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, remove(saved), remove(spent))
}

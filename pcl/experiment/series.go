package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/pcl"
)

// checkpointFile is the name of the checkpoint of a step.
func checkpointFile(step int) string { return fmt.Sprintf("checkpoint-%09d.pcl", step) }

// leftover matches the file that is left behind by a process that was killed while it wrote a
// checkpoint.
const leftover = ".checkpoint-*.tmp"

// series is the checkpoints of one run in a folder. The last keep of them are kept, but always at
// least one.
type series struct {
	dir  string
	keep int
}

// save writes the checkpoint of a step and removes all but the last of them. It also removes the
// checkpoints of later steps. There are such if the run was resumed from an earlier checkpoint, and
// they would otherwise be mistaken for newer ones.
func (s series) save(step int, state pcl.State) error {
	if err := state.Save(filepath.Join(s.dir, checkpointFile(step))); err != nil {
		return err
	}
	saved, spent, err := s.files()
	n, _ := slices.BinarySearchFunc(saved, step+1, func(path string, step int) int {
		return cmp.Compare(stepOf(path), step)
	})
	return errors.Join(err, remove(spent), remove(saved[n:]), remove(saved[:max(0, n-max(1, s.keep))]))
}

// stepOf returns the number of steps in the name of a checkpoint file, or 0 if the name is not one
// that save gives.
func stepOf(path string) int {
	var step int
	if _, err := fmt.Sscanf(filepath.Base(path), "checkpoint-%d.pcl", &step); err != nil {
		return 0
	}
	return step
}

// list returns the checkpoints, oldest first.
func (s series) list() ([]string, error) {
	saved, _, err := s.files()
	return saved, err
}

// files returns the checkpoints in the folder, oldest first, and what is left over.
func (s series) files() (saved, spent []string, err error) {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		if ok, _ := filepath.Match(leftover, e.Name()); ok {
			spent = append(spent, path)
		} else if e.Name() == checkpointFile(stepOf(path)) { // and not a copy that a user has made
			saved = append(saved, path)
		}
	}
	slices.SortFunc(saved, func(a, b string) int { return cmp.Compare(stepOf(a), stepOf(b)) })
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

// latest loads the newest checkpoint that is whole. Its path is empty if there is none. damaged
// says what is wrong with the newest one, if it is another.
func (s series) latest() (state pcl.State, path string, damaged, err error) {
	paths, err := s.list()
	if err != nil {
		err = fmt.Errorf("pcl: %w", err)
	}
	for _, path := range slices.Backward(paths) {
		state, failed := pcl.LoadState(path)
		if !errors.Is(failed, pcl.ErrDamaged) {
			return state, path, damaged, failed
		}
		damaged = cmp.Or(damaged, failed)
	}
	return pcl.State{}, "", damaged, err
}

func (s series) clear() error {
	saved, spent, err := s.files()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, remove(saved), remove(spent))
}

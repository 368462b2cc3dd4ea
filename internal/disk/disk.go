// Package disk checks whether there is enough room on a disk before something is written. Begin with [Room].
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrFull marks the errors of this package about a full disk.
var ErrFull = errors.New("not enough room on the disk")

// Room returns an error unless n more bytes fit into the folder dir, which need not exist yet. If the system does not
// say how much is free, Room returns nil, and a full disk shows when something is written.
func Room(dir string, n int64) error {
	if left, ok := free(existing(dir)); ok && left < n {
		return fmt.Errorf("%w: %s needs %s, %s are free", ErrFull, dir, megabytes(n), megabytes(left))
	}
	return nil
}

// Explain adds to an error that came from writing to dir how much room is left there, if the error is about a full
// disk or an exhausted quota. It returns other errors unchanged.
func Explain(err error, dir string) error {
	if err == nil || errors.Is(err, ErrFull) || !slices.ContainsFunc(fullErrors, func(full error) bool { return errors.Is(err, full) }) {
		return err
	}
	if left, ok := free(existing(dir)); ok {
		return fmt.Errorf("%w: %s are free in %s: %w", ErrFull, megabytes(left), dir, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrFull, dir, err)
}

// existing returns dir or, if it does not exist, the nearest folder above it that does.
func existing(dir string) string {
	for {
		_, err := os.Stat(dir)
		if up := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && up != dir {
			dir = up
			continue
		}
		return dir
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

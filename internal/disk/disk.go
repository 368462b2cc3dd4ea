// Package disk tells whether there is room for what is about to be written.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrFull is matched by the errors of this package.
var ErrFull = errors.New("not enough room on the disk")

// Room is an error unless n more bytes fit into the folder dir, which need not exist yet. Where the
// system does not tell, writing will.
func Room(dir string, n int64) error {
	if left, ok := free(existing(dir)); ok && left < n {
		return fmt.Errorf("%w: %s needs %s, %s are free", ErrFull, dir, megabytes(n), megabytes(left))
	}
	return nil
}

// Explain says of an error that came while writing into dir how much is free there, if the error is
// about a full disk or a used-up quota. Other errors it returns as they are.
func Explain(err error, dir string) error {
	if err == nil || errors.Is(err, ErrFull) || !slices.ContainsFunc(fullErrors, func(full error) bool { return errors.Is(err, full) }) {
		return err
	}
	if left, ok := free(existing(dir)); ok {
		return fmt.Errorf("%w: %s are free in %s: %w", ErrFull, megabytes(left), dir, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrFull, dir, err)
}

// existing is dir or the nearest folder above it that exists.
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

// Package disk tells whether there is room on a disk. Begin with [Room].
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Room returns an error, for which [Full] is true, unless n more bytes fit into the folder dir, which need not exist yet. If
// the system does not say how much is free, Room returns nil, and a full disk shows when something is written.
func Room(dir string, n int64) error {
	at := dir // or the nearest folder above it that exists
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at; _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	if left, ok := free(at); ok && left < n {
		return fmt.Errorf("%s needs %.1f MB, %.1f MB are free: %w", dir, float64(n)/1e6, float64(left)/1e6, fullErrors[0])
	}
	return nil
}

// Full reports whether an error is about a full disk or an exhausted quota.
func Full(err error) bool {
	return slices.ContainsFunc(fullErrors, func(full error) bool { return errors.Is(err, full) })
}

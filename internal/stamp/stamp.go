// Package stamp notes what files of a cache are, so that a later program can tell whether they
// still are that: at once by their sizes and times, and surely by their SHA-256.
package stamp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/internal/ctxio"
	"github.com/parallelcl/parallelcl/internal/regular"
)

// Stamp says what a file was.
type Stamp struct {
	Bytes  int64  `json:"bytes"` // 0: unknown
	Time   int64  `json:"time"`  // of its last change, in nanoseconds since 1970; 0: unknown
	SHA256 string `json:"sha256"`
}

// Files are the stamps of files by their paths in a folder, or of files in any folders by their
// absolute paths.
type Files map[string]Stamp

// ErrDamaged is the error of a file that is not what it was.
var ErrDamaged = errors.New("is damaged")

// Of notes what a file is now.
func Of(ctx context.Context, path string) (s Stamp, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	sum, err := Sum(ctx, path)
	return Stamp{info.Size(), info.ModTime().UnixNano(), sum}, err
}

// In notes all files of a folder.
func In(ctx context.Context, dir string) (Files, error) {
	files := Files{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[name], err = Of(ctx, path)
		}
		return err
	})
	return files, err
}

// Check compares the files with their stamps: those of another time, or if whole is set all, by
// their SHA-256. renewed says that some have only another time, which the stamps have from now on.
// The error is that of the first file that is missing or damaged.
func (f Files) Check(ctx context.Context, dir string, whole bool) (renewed bool, err error) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		was, path := f[name], filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return renewed, err
		}
		size, time := info.Size(), info.ModTime().UnixNano()
		if was.Bytes != 0 && size != was.Bytes {
			return renewed, fmt.Errorf("%s %w: it has %d bytes; want %d", path, ErrDamaged, size, was.Bytes)
		}
		if time == was.Time && !whole {
			continue
		}
		sum, err := Sum(ctx, path)
		if err != nil {
			return renewed, err
		}
		if sum != was.SHA256 {
			return renewed, fmt.Errorf("%s %w: its SHA-256 is %.12s…; want %.12s…", path, ErrDamaged, sum, was.SHA256)
		}
		if now := (Stamp{size, time, sum}); now != was {
			f[name], renewed = now, true
		}
	}
	return renewed, nil
}

// Sum returns the SHA-256 of a file, in hexadecimal digits.
func Sum(ctx context.Context, path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, ctxio.Reader(ctx, f), make([]byte, 1<<18)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

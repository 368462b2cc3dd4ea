package features

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Kept is a folder of the cache: the features of one backbone, size and file of weights.
type Kept struct {
	Name     string `json:"name"`
	Pictures int    `json:"pictures"`
	Damaged  int64  `json:"damaged"` // bytes that can't be read or belong elsewhere; their pictures are made again
	Bytes    int64  `json:"bytes"`
}

// cacheDir returns dir or, if it is empty, the default folder of the cache.
func cacheDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	dir, err := backend.DefaultCacheDir()
	if err != nil {
		return "", fmt.Errorf("features: %w: set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "features"), nil
}

// List lists the contents of the cache in the folder dir, or of the user's cache if dir is empty.
func List(dir string) ([]Kept, error) {
	dir, err := cacheDir(dir)
	if err != nil {
		return nil, err
	}
	folders, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("features: %w", err)
	}
	var all []Kept
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		k := Kept{Name: f.Name()}
		s := folder(dir, f.Name())
		files, err := s.files()
		if err != nil {
			return nil, err
		}
		seen := map[key]bool{}
		for _, path := range files {
			damaged, err := s.entries(path, func(of key, _ []byte) { seen[of] = true })
			if err != nil {
				return nil, err
			}
			if about, err := os.Stat(path); err == nil {
				k.Bytes += about.Size()
			}
			k.Damaged += int64(damaged)
		}
		k.Pictures = len(seen)
		all = append(all, k)
	}
	return all, nil
}

// Delete removes a folder of the cache, which [List] names. It waits while another process adds to
// it.
func Delete(ctx context.Context, dir, name string) error {
	dir, err := cacheDir(dir)
	if err != nil {
		return err
	}
	s := folder(dir, name)
	if about, err := os.Stat(s.dir); err != nil || !about.IsDir() || name != filepath.Base(s.dir) || name == ".." {
		return fmt.Errorf("features: the cache has no folder %q; want a name that pcl data features lists", name)
	}
	unlock, err := s.lock(ctx, func() {})
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(s.dir)
}

// Drop removes the features of pictures from the cache, wherever they were made, and all that is
// damaged, since nobody knows of which pictures it is. It returns how many whole entries it
// removed.
func Drop(ctx context.Context, dir string, p Pictures) (n int, err error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	all, err := List(dir)
	if err != nil {
		return 0, err
	}
	gone := map[key]bool{}
	for i := range p.Len() {
		gone[keyOf(p, i)] = true
	}
	dir, err = cacheDir(dir)
	for _, k := range all {
		of, err := folder(dir, k.Name).drop(ctx, func(k key) bool { return gone[k] })
		n += of
		if err != nil {
			return n, err
		}
	}
	return n, err
}

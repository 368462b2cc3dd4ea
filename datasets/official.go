package datasets

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MissingFiles lists the files of a set, relative to the data folder, that are missing. It only
// checks whether they exist; [Verify] reads them.
func MissingFiles(name string, o Options) (missing []string, err error) {
	defer finish(context.Background(), name, &err)
	e, err := find(name)
	if err != nil || e.format == nil {
		return nil, err
	}
	dir, err := o.dir()
	if err == nil {
		_, missing, _ = official{e, dir}.files()
	}
	return missing, err
}

// A format is how the official files of a set are read.
type format interface {
	// open reads the set from the data folder, which has all files but optional ones.
	open(ctx context.Context, d *Dataset, dir string) error
	// list says what a file or folder has, and reads no more than it must.
	list(path string, f File) (content, error)
}

// content is what a file or folder has.
type content struct {
	samples int                             // images or labels
	files   []string                        // in which they are
	check   func(ctx context.Context) error // reads it completely
}

// official are the files of a set of the catalogue in a data folder.
type official struct {
	*entry
	dir string
}

type placed struct {
	File
	path string
}

// files returns those that are here and the names of those that are not; complete says whether the
// latter are all optional.
func (s official) files() (here []placed, missing []string, complete bool) {
	complete = true
	for _, f := range s.Files {
		if path, ok := locate(s.dir, f.Path); ok {
			here = append(here, placed{f, path})
		} else {
			missing, complete = append(missing, f.Path), complete && f.optional
		}
	}
	return here, missing, complete
}

// locate returns the path of file in dir, with or without its .gz ending.
func locate(dir, file string) (string, bool) {
	path := filepath.Join(dir, filepath.FromSlash(file))
	for _, p := range []string{path, strings.TrimSuffix(path, ".gz")} {
		if exists(p) {
			return p, true
		}
	}
	return path, false
}

// stamp looks at folders of images instead of the many files in them: a folder has another time
// when a file comes or goes.
func (s official) stamp(context.Context) string {
	here, _, complete := s.files()
	if !complete {
		return ""
	}
	var paths []string
	for _, f := range here {
		root := f.path
		if target, err := filepath.EvalSymlinks(root); err == nil { // WalkDir sees nothing behind a link
			root = target
		}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			folder := err == nil && d.IsDir()
			if path == root || folder {
				paths = append(paths, path)
			}
			if folder && d.Name() == "images" {
				return fs.SkipDir
			}
			return nil
		})
	}
	return stampOf(paths...)
}

// survey sets the SHA-256 of the files if they are only a part of those published, by the number of
// their samples. It stays empty if they are complete, and if files are missing without which the
// set cannot be opened.
func (s official) survey(ctx context.Context, i *Info) error {
	here, missing, complete := s.files()
	if !complete {
		return nil
	}
	var all []string
	fewer := len(missing) > 0
	for _, f := range here {
		if f.Samples == 0 {
			all = append(all, f.path)
			continue
		}
		c, err := s.format.list(f.path, f.File)
		if err != nil {
			return err
		}
		fewer = fewer || c.samples != f.Samples
		all = append(all, c.files...)
	}
	if !fewer {
		return nil
	}
	var err error
	i.SHA256, err = s.sum(ctx, all)
	return err
}

// sum is the checksum of the names of files and their own.
func (s official) sum(ctx context.Context, files []string) (string, error) {
	lines := make([]string, len(files))
	err := onAllCores(ctx, len(files), func() func(int) error {
		return func(i int) error {
			name, err := filepath.Rel(s.dir, files[i])
			if err != nil {
				return err
			}
			sum, err := sumFiles(ctx, files[i])
			lines[i] = fmt.Sprintf("%q %s\n", filepath.ToSlash(name), sum)
			return err
		}
	})
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "")))), err
}

func (s official) open(ctx context.Context, d *Dataset) (*samples, error) {
	_, missing, complete := s.files()
	if !complete {
		hint := ""
		if part := lookup(s.Name + "-test80"); part != nil {
			if _, _, complete := (official{part, s.dir}).files(); complete {
				hint = fmt.Sprintf("; the test files are there: %s makes train and test out of them", part.Name)
			}
		}
		return nil, fmt.Errorf("files are missing: looked in %s for %s; run `pcl data fetch %s`, or set %s (or pcl run "+
			"--data-dir, pcl data --dir) to the folder that has them%s: %w", s.dir, strings.Join(missing, ", "), s.Name,
			envDir, hint, fs.ErrNotExist)
	}
	if err := s.format.open(ctx, d, s.dir); err != nil {
		return nil, err
	}
	i, err := surveyed(ctx, s.info(), s)
	d.SHA256 = i.SHA256
	return nil, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

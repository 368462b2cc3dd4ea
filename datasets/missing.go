package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrMissing is matched by the error of [Open] if files of a set are not in the data folder.
var ErrMissing = errors.New("files are missing")

// MissingFiles lists the files of a set, relative to the data folder, that are missing. It only checks
// whether they exist; [Verify] reads them.
func MissingFiles(name string, o Options) ([]string, error) {
	e, err := find(name)
	if err != nil || len(e.Files) == 0 {
		return nil, err
	}
	dir, err := o.dir()
	if err != nil {
		return nil, err
	}
	return e.missing(dir, false), nil
}

// missing lists the files that are not in dir, needed those without which the set cannot be opened.
func (e *entry) missing(dir string, needed bool) (files []string) {
	for _, f := range e.Files {
		if _, ok := locate(dir, f.Path); !ok && !(needed && f.optional) {
			files = append(files, f.Path)
		}
	}
	return files
}

// missingError names what was looked for and what to do about it.
type missingError struct{ text string }

func (e *missingError) Error() string        { return e.text }
func (e *missingError) Is(target error) bool { return target == ErrMissing || target == fs.ErrNotExist }

// require returns a missingError unless dir has every file that the set needs.
func (e *entry) require(dir string) error {
	files := e.missing(dir, true)
	if len(files) == 0 {
		return nil
	}
	text := fmt.Sprintf("%v: looked in %s for %s; run `pcl data fetch %s`, or set %s (or pcl run --data-dir, pcl data --dir) to the folder that has them",
		ErrMissing, dir, strings.Join(files, ", "), e.Name, envDir)
	if part, err := find(e.Name + "-test80"); err == nil && len(part.missing(dir, true)) == 0 {
		text += fmt.Sprintf("; the test files are there: %s makes train and test out of them", part.Name)
	}
	return &missingError{text}
}

// locate returns the path of file in dir, with or without its .gz ending.
func locate(dir, file string) (string, bool) {
	path := filepath.Join(dir, filepath.FromSlash(file))
	for _, p := range []string{path, strings.TrimSuffix(path, ".gz")} {
		if _, err := os.Stat(p); err == nil {
			return p, true
		}
	}
	return path, false
}

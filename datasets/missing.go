package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrMissing is matched by the error of Open if files of a set are not in the data folder.
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
	var missing []string
	for _, f := range e.Files {
		if _, ok := locate(dir, f.Path); !ok {
			missing = append(missing, f.Path)
		}
	}
	return missing, nil
}

// missingError names what was looked for and what to do about it.
type missingError struct {
	dir     string
	files   []string
	command string
	hint    string
}

func (e *missingError) Error() string {
	s := fmt.Sprintf("%v: looked in %s for %s; run `%s`, or set %s (or pcl run --data-dir, pcl data --dir) to the folder that has them",
		ErrMissing, e.dir, strings.Join(e.files, ", "), e.command, EnvDir)
	if e.hint != "" {
		s += "; " + e.hint
	}
	return s
}

func (e *missingError) Is(target error) bool { return target == ErrMissing || target == fs.ErrNotExist }

// require returns a missingError unless every file is in dir. An .gz name is also satisfied by
// the unpacked file.
func require(dir, name string, files ...string) error {
	var missing []string
	for _, f := range files {
		if _, ok := locate(dir, f); !ok {
			missing = append(missing, f)
		}
	}
	if missing == nil {
		return nil
	}
	return &missingError{dir: dir, files: missing, command: "pcl data fetch " + name}
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

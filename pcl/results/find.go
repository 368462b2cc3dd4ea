package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/regular"
)

// File is a run and the file that it was read from.
type File struct {
	Run  *Run
	Path string
}

// ResultFile and RecordsFile are the names of the files in a run's folder with its result and, if
// that was asked for, its steps.
const (
	ResultFile  = "result.json"
	RecordsFile = "records.jsonl"
)

// Find reads the runs that paths name: result files, run folders, and folders with any number of
// those below. Copies of a run count once. Own data have their names alone in the runs, without the
// folders where they lie: pages and tables made of them are shared. The error names each path
// without a result and each file that cannot be read.
func Find(paths ...string) (out []File, err error) {
	var failed []error
	seen := map[string]bool{}
	for _, path := range paths {
		files, err := findResults(path, map[string]bool{})
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("no results in %s: it has no %s, nor has a folder below it; pcl run writes them",
				path, ResultFile)
		}
		failed = append(failed, err)
		for _, file := range files {
			run, err := Load(file)
			if err == nil {
				run, err = withoutFolders(run)
			}
			if failed = append(failed, err); err != nil {
				continue
			}
			if id := run.ID + run.ModelSHA256; !seen[id] {
				out, seen[id] = append(out, File{run, file}), true
			}
		}
	}
	return out, errors.Join(failed...)
}

// findResults lists the results that a path names: a file, or those in a folder and below it, also
// where these are links. met are the folders that were looked into, by their real paths: links may
// lead in circles.
func findResults(path string, met map[string]bool) (out []string, err error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || met[real] {
		return nil, err
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return []string{path}, err
	}
	met[real] = true
	entries, err := os.ReadDir(real)
	for _, e := range entries {
		at := filepath.Join(path, e.Name())
		if info, missing := os.Stat(at); missing != nil || !info.IsDir() && e.Name() != ResultFile {
			continue
		}
		found, wrong := findResults(at, met)
		out, err = append(out, found...), errors.Join(err, wrong)
	}
	return out, err
}

// Records is the file of the run's steps, which need not be there.
func (f File) Records() string { return filepath.Join(filepath.Dir(f.Path), RecordsFile) }

// ReadRecords reads the steps of the run; there are none without a file.
func (f File) ReadRecords() ([]Record, error) {
	file, err := regular.Open(f.Records())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := ReadRecords(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return records, nil
}

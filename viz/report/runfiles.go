package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// RunFile is a run and the file that it was read from.
type RunFile struct {
	Run         *results.Run
	File        string
	sum, record fact // checksums of the file, and of that of its steps, if there is one
}

// The names of a run's files.
const resultName, recordsName = "result.json", "records.jsonl"

// FindRuns reads the runs that paths name: result files, run folders, and folders with any number of those below. Copies of one
// result file are read once. Own data have their names alone in the runs, without the folders where they lie: what is made of
// these is shared. The error names each path without a result and each file that cannot be read.
func FindRuns(paths ...string) ([]RunFile, error) {
	var out []RunFile
	var failed []error
	seen := map[string]bool{}
	for _, path := range paths {
		files, err := findResults(path, map[string]bool{})
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("no results in %s: it has no %s, nor has a folder below it; pcl run writes them", path, resultName)
		}
		failed = append(failed, err)
		for _, file := range files {
			f, err := readRun(file)
			if failed = append(failed, err); !seen[f.sum.Value] {
				out, seen[f.sum.Value] = append(out, f), true
			}
		}
	}
	if err := errors.Join(failed...); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return out, nil
}

// findResults lists the results that a path names: a file, or those in a folder and below it, also where these are links. met are
// the folders that were looked into, by their real paths: links may lead in circles.
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
		if info, missing := os.Stat(at); missing != nil || !info.IsDir() && e.Name() != resultName {
			continue
		}
		found, wrong := findResults(at, met)
		out, err = append(out, found...), errors.Join(err, wrong)
	}
	return out, err
}

func readRun(file string) (f RunFile, err error) {
	f.File = file
	if f.Run, err = results.Load(file); err == nil {
		f.Run, err = f.Run.WithoutFolders()
	}
	if err == nil {
		f.sum, err = sumOf(file)
	}
	if err == nil {
		f.record, err = sumOf(f.recordsFile())
	}
	if errors.Is(err, fs.ErrNotExist) && f.sum.Name != "" {
		err = nil
	}
	return f, err
}

func (f RunFile) recordsFile() string { return filepath.Join(filepath.Dir(f.File), recordsName) }

// ReadRecords reads the steps of the run; there are none without a file.
func (f RunFile) ReadRecords() ([]results.Record, error) {
	if f.record.Name == "" {
		return nil, nil
	}
	file, err := os.Open(f.recordsFile())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := results.ReadRecords(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return records, nil
}

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// RunFile is a run and the files that it was read from.
type RunFile struct {
	Run           *results.Run
	File, SHA256  string
	Records       string // the file of its steps; empty where there is none
	RecordsSHA256 string
}

const resultName = "result.json" // of a run

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
			if failed = append(failed, err); !seen[f.SHA256] {
				out, seen[f.SHA256] = append(out, f), true
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
	run, err := results.Load(file)
	if err != nil {
		return f, err
	}
	f.File = file
	if f.Run, err = run.WithoutFolders(); err != nil {
		return f, err
	}
	if f.SHA256, err = sumOf(file); err != nil {
		return f, err
	}
	f.Records = filepath.Join(filepath.Dir(file), "records.jsonl")
	if f.RecordsSHA256, err = sumOf(f.Records); errors.Is(err, fs.ErrNotExist) {
		f.Records, err = "", nil
	}
	return f, err
}

// ReadRecords reads the steps of the run; there are none without a file.
func (f RunFile) ReadRecords() ([]results.Record, error) {
	if f.Records == "" {
		return nil, nil
	}
	file, err := os.Open(f.Records)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := results.ReadRecords(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Records, err)
	}
	return records, nil
}

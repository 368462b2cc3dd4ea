package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// RunFile is a run and the files that it was read from.
type RunFile struct {
	Run           *results.Run
	File, SHA256  string
	Records       string // the file of its steps; empty where there is none
	RecordsSHA256 string
}

// The names that a run gives to its files.
const (
	resultName = "result.json"
	recordName = "records.jsonl"
)

// FindRuns reads the runs that paths name: result files, run folders, and folders with any number of those
// below. Own data have their names alone in them, without the folders where they lie: what is made of these runs is shared. Copies of one result file are read once. It returns an error that names each path without a result
// and each file that is not a result.
func FindRuns(paths ...string) ([]RunFile, error) {
	var files []string
	var failed []error
	for _, path := range paths {
		found, err := resultFiles(path)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no results in %s: it has no %s, nor has a folder below it; pcl run writes them", path, resultName)
		}
		failed = append(failed, err)
		files = append(files, found...)
	}
	var out []RunFile
	seen := map[string]bool{}
	for _, file := range files {
		f, err := readRun(file)
		failed = append(failed, err)
		if err == nil && !seen[f.SHA256] {
			seen[f.SHA256] = true
			out = append(out, f)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if err := onceEach(out); err != nil {
		return nil, err
	}
	return out, nil
}

func resultFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = findResults(path, map[string]bool{}, &out)
	slices.Sort(out)
	return out, err
}

// findResults lists the results in a folder and in those below it, also where these are links. met are the folders that were
// looked into, by their real paths: links may lead in circles.
func findResults(dir string, met map[string]bool, out *[]string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || met[real] {
		return err
	}
	met[real] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), err != nil && e.Name() != resultName: // such as a link to nothing or to itself
		case err != nil:
			return err
		case info.IsDir():
			if err := findResults(path, met, out); err != nil {
				return err
			}
		case e.Name() == resultName:
			*out = append(*out, path)
		}
	}
	return nil
}

func readRun(file string) (RunFile, error) {
	f := RunFile{File: file}
	run, err := results.Load(file)
	if err == nil {
		f.Run, err = run.WithoutFolders()
	}
	if err != nil {
		return f, err
	}
	if f.SHA256, err = sumOf(file); err != nil {
		return f, err
	}
	records := filepath.Join(filepath.Dir(file), recordName)
	switch sum, err := sumOf(records); {
	case err == nil:
		f.Records, f.RecordsSHA256 = records, sum
	case !errors.Is(err, fs.ErrNotExist):
		return f, err
	}
	return f, nil
}

// onceEach refuses an experiment that was made twice: a mean over both would count it twice.
func onceEach(files []RunFile) error {
	at := map[string]string{}
	var twice []string
	for _, f := range files {
		same := f.Run.ID
		if settings := f.Run.Settings(); len(settings) > 0 {
			same = fmt.Sprint(f.Run.Increment, f.Run.ParamText(), settings) // a value that a flag gave is text, and a number in a file, under another ID
		}
		if other, ok := at[same]; ok && same != "" {
			twice = append(twice, other+" and "+f.File)
		}
		at[same] = f.File
	}
	if len(twice) > 0 {
		return fmt.Errorf("report: of one configuration are %s: name one of them", strings.Join(twice, "; "))
	}
	return nil
}

// readRecords reads the steps of a run.
func (f RunFile) readRecords() ([]results.Record, error) {
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

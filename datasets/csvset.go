package datasets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// csvFile is a table of samples: a header, a column with the classes, and columns with numbers. A folder has two, train.csv
// and test.csv.
type csvFile struct {
	path, label  string
	ignore, keep []string // columns that are no inputs, and those that are though they look like row numbers
	comma        rune     // 0: it follows from the first line
}

type csvParameters struct {
	Label     string `param:"label" default:"" doc:"column of the classes, if it does not have one of the usual names"`
	Ignore    string `param:"ignore" default:"" doc:"columns that are not inputs, with commas between them"`
	Keep      string `param:"keep" default:"" doc:"columns that are inputs though they look like row numbers"`
	Separator string `param:"separator" default:"" doc:"what stands between the columns: one of , ; | or tab"`
	sampleParameters
}

func parseCSV(path string, given map[string]any) (own, error) {
	p, err := withParameters[csvParameters](given)
	if err != nil {
		return nil, err
	}
	c := &csvFile{path: path, label: p.Label, ignore: listed(p.Ignore), keep: listed(p.Keep)}
	if p.Separator != "" {
		text := strings.Replace(p.Separator, "tab", "\t", 1)
		r, n := utf8.DecodeRuneInString(text)
		if c.comma = r; n != len(text) || !strings.ContainsRune(separators, r) {
			return nil, fmt.Errorf(`separator=%s; want one of , ; | and tab (write %%3B for a semicolon)`, p.Separator)
		}
	}
	return &sampleFiles{c, path, p.sampleParameters, p.asked(given)}, nil
}

func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// files returns the training file and, if there is one, the test file.
func (c *csvFile) files() ([]string, error) {
	info, err := os.Stat(c.path)
	if err != nil || !info.IsDir() {
		return []string{c.path}, err
	}
	files := []string{filepath.Join(c.path, "train.csv"), filepath.Join(c.path, "test.csv")}
	for _, f := range files {
		if _, err := statFile(f); err != nil {
			return nil, fmt.Errorf("%s is a folder, in which train.csv and test.csv are wanted: %w", c.path, err)
		}
	}
	return files, nil
}

func (c *csvFile) read(ctx context.Context, files []string) (*rawSet, error) {
	t := &csvTable{csvFile: c}
	var splits []*rawSplit
	for _, path := range files {
		s, err := t.readFile(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		splits = append(splits, s)
	}
	if err := t.leaveOut(splits); err != nil {
		return nil, err
	}
	r := &rawSet{train: splits[0], note: strings.Join(t.notes, "; ")}
	if len(splits) > 1 {
		r.test = splits[1]
	}
	return r, nil
}

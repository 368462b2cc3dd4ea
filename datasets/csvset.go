package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// csvFile is a table of samples: a header, a column with the classes, and columns with numbers. A folder has two, train.csv
// and test.csv.
type csvFile struct {
	path         string
	label        string
	ignore, keep []string // columns that are no inputs, and those that are though they look like row numbers
	comma        rune     // 0: it follows from the first line
}

func parseCSV(path string, p *parameters) own {
	c := &csvFile{path: path}
	p.text("label", &c.label)
	list := func(name string, to *[]string) {
		p.take(name, func(v string) error {
			*to = strings.FieldsFunc(v, func(r rune) bool { return r == ',' })
			return nil
		})
	}
	list("ignore", &c.ignore)
	list("keep", &c.keep)
	p.take("separator", func(v string) error {
		if v == "tab" {
			v = "\t"
		}
		r, n := utf8.DecodeRuneInString(v)
		if c.comma = r; n != len(v) || !strings.ContainsRune(separators, r) {
			return errors.New(`want one of , ; | and tab (write %3B for a semicolon)`)
		}
		return nil
	})
	return newSampleFiles(path, p, c)
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

package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// csvFile is a table of samples: a header, a column with the classes, and columns with numbers. A
// folder has two, train.csv and test.csv.
type csvFile struct {
	path, label  string
	ignore, keep []string // columns that are no inputs, and those that are though they look like row numbers
	comma        rune     // 0: it follows from the first line
	encoding     encoding.Encoding
}

type csvParameters struct {
	Label     string `param:"label" default:"" doc:"column of the classes, if it does not have one of the usual names"`
	Ignore    string `param:"ignore" default:"" doc:"columns that are not inputs, with commas between them"`
	Keep      string `param:"keep" default:"" doc:"columns that are inputs though they look like row numbers"`
	Separator string `param:"separator" default:"" doc:"what stands between the columns: one of , ; | or tab"`
	Encoding  string `param:"encoding" default:"" doc:"how text is encoded, if not in UTF-8 or in UTF-16 with a byte order mark: windows-1252, utf-16le and so on"`
	sampleParameters
}

func parseCSV(path string, given map[string]any) (source, error) {
	p, err := withParameters[csvParameters](given)
	if err != nil {
		return nil, err
	}
	c := &csvFile{path: path, label: p.Label, ignore: listed(p.Ignore), keep: listed(p.Keep)}
	if p.Separator != "" {
		text := strings.Replace(p.Separator, "tab", "\t", 1)
		if len(text) != 1 || !strings.Contains(separators, text) {
			return nil, fmt.Errorf("separator=%s; want one of , ; | and tab (write %%3B for a semicolon)", p.Separator)
		}
		c.comma = rune(text[0])
	}
	if p.Encoding != "" {
		if c.encoding, err = htmlindex.Get(p.Encoding); err != nil {
			return nil, fmt.Errorf("encoding=%s is not known; want utf-8, windows-1252 (which has all of Latin-1), "+
				"utf-16le or another of encoding.spec.whatwg.org", p.Encoding)
		}
	}
	return &sampleFiles{c, path, p.sampleParameters}, nil
}

func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// files returns the training file and, if there is one, the test file.
func (c *csvFile) files() ([]string, error) {
	info, err := os.Stat(c.path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{c.path}, nil
	}
	files := []string{filepath.Join(c.path, "train.csv"), filepath.Join(c.path, "test.csv")}
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			return nil, fmt.Errorf("%s is a folder, in which train.csv and test.csv are wanted: %w", c.path, err)
		}
	}
	return files, nil
}

// errNoLabels ends the reading of a test file without a column of classes, as a contest has it.
var errNoLabels = errors.New("it has no column of classes")

func (c *csvFile) read(ctx context.Context, files []string) (*rawSet, error) {
	t := &csvTable{csvFile: c}
	var splits []*rawSplit
	for k, path := range files {
		of := ""
		if len(files) > 1 {
			of = " of " + filepath.Base(path)
		}
		var r *rawSplit
		err := withFile(path, anySize, func(f *os.File, _ int64) (err error) {
			r, err = t.read(ctx, f, of)
			return err
		})
		if k > 0 && errors.Is(err, errNoLabels) {
			t.notes = append(t.notes, fmt.Sprintf("test.csv was left out: it has no column %s", t.header[t.label]))
			continue
		}
		if err != nil {
			return nil, err
		}
		splits = append(splits, r)
	}
	columns, err := t.leaveOut(splits)
	if err != nil {
		return nil, at(c.path, err)
	}
	r := &rawSet{train: splits[0], columns: columns, note: strings.Join(t.notes, "; ")}
	if len(splits) > 1 {
		r.test = splits[1]
	}
	return r, nil
}

package datasets

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
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

func parseCSV(path string, given map[string]any) source {
	p := withParameters[csvParameters](given)
	c := &csvFile{path: path, label: p.Label, ignore: listed(p.Ignore), keep: listed(p.Keep)}
	if p.Separator != "" {
		text := strings.Replace(p.Separator, "tab", "\t", 1)
		fail.When(len(text) != 1 || !strings.Contains(separators, text), "separator=%s; want one of , ; | and tab (write %%3B for a semicolon)", p.Separator)
		c.comma = rune(text[0])
	}
	return &sampleFiles{c, path, p.sampleParameters}
}

func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// files returns the training file and, if there is one, the test file.
func (c *csvFile) files() []string {
	if info := fail.Or(os.Stat(c.path)); !info.IsDir() {
		return []string{c.path}
	}
	files := []string{filepath.Join(c.path, "train.csv"), filepath.Join(c.path, "test.csv")}
	for _, f := range files {
		_, err := os.Stat(f)
		fail.When(err != nil, "%s is a folder, in which train.csv and test.csv are wanted: %w", c.path, err)
	}
	return files
}

func (c *csvFile) read(ctx context.Context, files []string) *rawSet {
	t := &csvTable{csvFile: c}
	var splits []*rawSplit
	for _, path := range files {
		withFile(path, anySize, func(f *os.File, _ int64) { splits = append(splits, t.read(ctx, f)) })
	}
	defer fail.At(c.path)
	t.leaveOut(splits)
	r := &rawSet{train: splits[0], note: strings.Join(t.notes, "; ")}
	if len(splits) > 1 {
		r.test = splits[1]
	}
	return r
}

package datasets

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// csvFile is a table of samples: a header, a column with the classes, and columns with numbers. A folder has two, train.csv
// and test.csv.
type csvFile struct {
	path   string
	label  string
	ignore []string
	comma  rune
	vectorOptions
}

func parseCSV(path string, p *parameters) own {
	c := &csvFile{path: path, comma: ','}
	p.text("label", &c.label)
	p.take("ignore", func(v string) error { c.ignore = strings.Split(v, ","); return nil })
	p.take("separator", func(v string) error {
		if v == "tab" {
			v = "\t"
		}
		r, n := utf8.DecodeRuneInString(v)
		if c.comma = r; n != len(v) || !strings.ContainsRune(",;|\t", r) {
			return errors.New(`want one of , ; | and tab (write %3B for a semicolon)`)
		}
		return nil
	})
	c.parse(p)
	return c
}

// labelColumns are the names of the column with the classes that need not be said.
var labelColumns = []string{"label", "class", "target", "y"}

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

func (c *csvFile) stamp(context.Context) (string, error) {
	files, err := c.files()
	if err != nil {
		return "", err
	}
	return stampOf(files...)
}

func (c *csvFile) survey(ctx context.Context, i *Info) error {
	d := &Dataset{Name: i.Name}
	err := c.open(ctx, d)
	d.inform(i)
	return err
}

func (c *csvFile) open(ctx context.Context, d *Dataset) error {
	return unchanged(ctx, c, func() error { return c.load(ctx, d) })
}

func (c *csvFile) load(ctx context.Context, d *Dataset) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	if d.SHA256, err = sumFiles(ctx, files...); err != nil {
		return err
	}
	r := new(rawSet)
	var columns []string
	for i, path := range files {
		s, names, err := c.read(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if i == 0 {
			r.train, columns = s, names
			continue
		}
		if r.test = s; !slices.Equal(names, columns) {
			return fmt.Errorf("%s has other columns than %s, or in another order", path, files[0])
		}
	}
	if err := c.fill(d, r); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

// read reads a table and returns it with the names of its columns of numbers.
func (c *csvFile) read(ctx context.Context, path string) (*rawSplit, []string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	table := csv.NewReader(in)
	table.Comma, table.ReuseRecord = c.comma, true
	table.TrimLeadingSpace = c.comma != '\t' // it would take empty cells for space
	header, err := table.Read()
	if err == io.EOF {
		return nil, nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, nil, err
	}
	header = slices.Clone(header)
	label, numbers, err := c.columns(header)
	if err != nil {
		return nil, nil, err
	}
	r := &rawSplit{vector: len(numbers), values: []float32{}}
	classes := map[string]string{}
	for {
		fields, err := table.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, nil, err // which names the line
		}
		line, _ := table.FieldPos(0)
		if err := r.row(fields, label, numbers, header, classes); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
		if len(r.values) > maxOwnBytes/4 {
			return nil, nil, fmt.Errorf("more than %d GB of numbers", maxOwnBytes>>30)
		}
	}
	if len(r.labels) == 0 {
		return nil, nil, errors.New("there is a header, and no line after it")
	}
	var names []string
	for _, i := range numbers {
		names = append(names, header[i])
	}
	return r, names, nil
}

// row adds a line of the table. names has a copy of each class that was met.
func (r *rawSplit) row(fields []string, label int, numbers []int, header []string, names map[string]string) error {
	class := strings.TrimSpace(fields[label])
	if class == "" || !utf8.ValidString(class) {
		return fmt.Errorf("the class (column %q) is %q", header[label], class)
	}
	if names[class] == "" {
		class = strings.Clone(class) // class itself holds on to the whole line
		names[class] = class
	}
	r.labels = append(r.labels, names[class])
	for _, i := range numbers {
		text := strings.TrimSpace(fields[i])
		v, err := strconv.ParseFloat(text, 32)
		if err != nil || v-v != 0 {
			return fmt.Errorf("column %q has %q: want a number of at most %.2g; ?ignore=%s leaves the column out", header[i], text, math.MaxFloat32, header[i])
		}
		r.values = append(r.values, float32(v))
	}
	return nil
}

// columns returns which column has the classes and which have numbers.
func (c *csvFile) columns(header []string) (label int, numbers []int, err error) {
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	if _, err := strconv.ParseFloat(header[0], 64); err == nil {
		return 0, nil, fmt.Errorf("the first line is %.80q: want the names of the columns", strings.Join(header, ", "))
	}
	seen := make(map[string]bool, len(header))
	for i, name := range header {
		if name == "" || seen[name] {
			return 0, nil, fmt.Errorf("the header has no name, or one that is there before, for column %d: %q", i+1, name)
		}
		seen[name] = true
	}
	for _, name := range c.ignore {
		if !slices.Contains(header, name) {
			return 0, nil, fmt.Errorf("ignore=%s: the columns are %s", name, some(header))
		}
	}
	if label, err = c.labelColumn(header); err != nil {
		return 0, nil, err
	}
	for i, h := range header {
		if i != label && !slices.Contains(c.ignore, h) {
			numbers = append(numbers, i)
		}
	}
	if len(numbers) == 0 {
		return 0, nil, errors.New("no column with numbers")
	}
	return label, numbers, nil
}

// labelColumn returns which column has the classes. A second one that may have them is no input before somebody says so:
// a network would read the class from it.
func (c *csvFile) labelColumn(header []string) (int, error) {
	label := slices.Index(header, c.label)
	var known []string
	for i, h := range header {
		if c.label == "" && !slices.Contains(c.ignore, h) && slices.ContainsFunc(labelColumns, func(n string) bool { return strings.EqualFold(h, n) }) {
			label, known = i, append(known, h)
		}
	}
	switch {
	case len(known) > 1:
		return 0, fmt.Errorf("the columns %s may all have the classes: name the one with ?label=NAME, and leave the others out with ignore=NAME unless they are inputs", strings.Join(known, ", "))
	case label < 0 && c.label == "":
		return 0, fmt.Errorf("no column %s has the classes: name it with ?label=NAME; the columns are %s", strings.Join(labelColumns, ", "), some(header))
	case label < 0:
		return 0, fmt.Errorf("no column %q with the classes: name it with ?label=NAME; the columns are %s", c.label, some(header))
	case slices.Contains(c.ignore, header[label]):
		return 0, fmt.Errorf("the column %q has the classes, and cannot be left out with ignore=", header[label])
	}
	return label, nil
}

// some lists the first of many names.
func some(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + fmt.Sprintf(" and %d more", len(names)-12)
	}
	return strings.Join(names, ", ")
}

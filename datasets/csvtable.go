package datasets

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A csvTable is what is read of the files of a table, one after another.
type csvTable struct {
	*csvFile
	header  []string
	label   int            // the column with the classes
	numbers []int          // the columns with the inputs
	counts  [][]rowCounter // for each of these, one for each file
	classes map[string]string
	notes   []string
}

func (t *csvTable) readFile(ctx context.Context, path string) (*rawSplit, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table, note, err := t.text(f)
	if err != nil {
		return nil, err
	}
	if note != "" && !slices.Contains(t.notes, note) {
		t.notes = append(t.notes, note)
	}
	header, err := table.Read()
	if err == io.EOF {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	if err := t.head(slices.Clone(header)); err != nil {
		return nil, err
	}
	return t.rows(ctx, table)
}

// head takes the first line of a file.
func (t *csvTable) head(header []string) error {
	header = named(header)
	if t.header != nil && !slices.Equal(t.header, header) {
		return fmt.Errorf("it has other columns than the training file, or in another order: %s", some(header))
	}
	if t.header == nil {
		var err error
		if t.label, t.numbers, err = t.columns(header); err != nil {
			return err
		}
		t.header, t.classes, t.counts = header, map[string]string{}, make([][]rowCounter, len(t.numbers))
	}
	for k := range t.counts {
		t.counts[k] = append(t.counts[k], rowCounter{})
	}
	return nil
}

func (t *csvTable) rows(ctx context.Context, table *csv.Reader) (*rawSplit, error) {
	r := &rawSplit{vector: len(t.numbers), values: []float32{}}
	for {
		fields, err := table.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err // which names the line
		}
		line, _ := table.FieldPos(0)
		if err := t.row(r, fields); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if len(r.values) > maxOwnBytes/4 {
			return nil, fmt.Errorf("more than %d GB of numbers", maxOwnBytes>>30)
		}
	}
	if len(r.labels) == 0 {
		return nil, errors.New("there is a header, and no line after it")
	}
	return r, nil
}

// row adds a line of the table.
func (t *csvTable) row(r *rawSplit, fields []string) error {
	n := len(t.header)
	if len(fields) < n || strings.Join(fields[n:], "") != "" { // what follows a separator at the end is empty
		return fmt.Errorf("%d fields, and the header has %d names; row names need a name of their own, if only an empty one", len(fields), n)
	}
	class := strings.TrimSpace(fields[t.label])
	if class == "" || strings.ContainsRune(class, '\uFFFD') { // which bytes that are not UTF-8 are, too
		return fmt.Errorf("the class (column %q) is %q; want text in UTF-8", t.header[t.label], class)
	}
	if t.classes[class] == "" {
		class = strings.Clone(class) // class itself holds on to the whole line
		t.classes[class] = class
	}
	r.labels = append(r.labels, t.classes[class])
	for k, i := range t.numbers {
		text := strings.TrimSpace(fields[i])
		v, err := strconv.ParseFloat(text, 32)
		if err != nil || v-v != 0 {
			return fmt.Errorf("column %q has %q: want a number of at most %.2g, with a decimal point; ?ignore=%s leaves the column out", t.header[i], text, math.MaxFloat32, t.header[i])
		}
		r.values = append(r.values, float32(v))
		t.counts[k][len(t.counts[k])-1].add(text)
	}
	return nil
}

// leaveOut takes the columns out of the splits that number their rows: sorted by class, they would give the class away.
func (t *csvTable) leaveOut(splits []*rawSplit) error {
	var inputs []int // by their place among the numbers
	for k, i := range t.numbers {
		name := t.header[i]
		if slices.Contains(t.keep, name) || !numberRows(t.counts[k], name) {
			inputs = append(inputs, k)
			continue
		}
		t.notes = append(t.notes, fmt.Sprintf("the column %q numbers the rows and was left out (keep=%s makes it an input)", name, name))
	}
	if len(inputs) == 0 {
		return fmt.Errorf("no column with numbers is left; %s", strings.Join(t.notes, "; "))
	}
	for _, r := range splits {
		r.values, r.vector = selected(r.values, r.vector, inputs), len(inputs)
	}
	return nil
}

// selected returns the columns of a table, row by row, in its own memory.
func selected(values []float32, width int, columns []int) []float32 {
	if len(columns) == width {
		return values
	}
	out := values[:0]
	for row := range slices.Chunk(values, width) {
		for _, k := range columns {
			out = append(out, row[k])
		}
	}
	return out
}

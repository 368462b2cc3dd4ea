package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/alike"
)

// A csvTable is what is read of the files of a table, one after another.
type csvTable struct {
	*csvFile
	header  []string
	label   int            // the column with the classes
	numbers []int          // the columns with the inputs
	counts  [][]rowCounter // for each of these, one for each file
	truths  []cells        // for each of these
	classes map[string]string
	notes   []string
}

// cells are what a column has.
type cells uint8

const (
	numbered cells = 1 << iota
	truths         // True and False, as pandas writes them
)

// read reads a file. of is how messages name it behind a line, if there are several.
func (t *csvTable) read(ctx context.Context, f io.Reader, of string) (*rawSplit, error) {
	table, err := t.text(f)
	if err != nil {
		return nil, err
	}
	header, err := table.Read()
	if err == io.EOF {
		err = errors.New("the file is empty")
	}
	if err == nil {
		err = t.head(completed(slices.Clone(header)))
	}
	if err != nil {
		return nil, err
	}
	var lines []int32
	r := &rawSplit{vector: len(t.numbers)}
	r.double = []float64{}
	r.name = func(i int) string { return fmt.Sprintf("line %d%s", lines[i], of) }
	for {
		fields, err := table.Read() // whose error names the line
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, _ := table.FieldPos(0)
		if err := t.row(r, fields); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		lines = append(lines, int32(line))
	}
	if len(r.labels) == 0 {
		return nil, errors.New("there is a header, and no line after it")
	}
	return r, nil
}

// head takes the first line of a file.
func (t *csvTable) head(header []string) (err error) {
	if t.header == nil {
		if t.label, t.numbers, err = t.columns(header); err != nil {
			return err
		}
		t.header, t.classes = header, map[string]string{}
		t.counts, t.truths = make([][]rowCounter, len(t.numbers)), make([]cells, len(t.numbers))
	}
	switch {
	case slices.Equal(t.header, header):
	case slices.Equal(slices.Delete(slices.Clone(t.header), t.label, t.label+1), header):
		return errNoLabels
	default:
		for _, name := range header {
			if hint := alike.Hint(name, t.header); hint != "" {
				return fmt.Errorf("it has the column %q, the training file another%s", name, hint)
			}
		}
		return fmt.Errorf("it has other columns than the training file, or in another order: %s", some(header))
	}
	for k := range t.counts {
		t.counts[k] = append(t.counts[k], rowCounter{})
	}
	return nil
}

// row adds a line of the table.
func (t *csvTable) row(r *rawSplit, fields []string) error {
	n := len(t.header)
	if len(fields) < n || strings.Join(fields[n:], "") != "" { // what follows a separator at the end is empty
		return fmt.Errorf("%d fields, and the header has %d names; row names need a name of their own, if only an "+
			"empty one", len(fields), n)
	}
	class := strings.TrimSpace(fields[t.label])
	switch {
	case class == "":
		return fmt.Errorf("the class (column %q) is empty: leave out rows without one", t.header[t.label])
	case notUTF8(class):
		return fmt.Errorf("the class (column %q) is %q, which is not UTF-8: %s", t.header[t.label], class, otherText)
	case t.classes[class] == "":
		class = strings.Clone(class) // class itself holds on to the whole line
		t.classes[class] = class
	}
	r.labels = append(r.labels, t.classes[class])
	for k, i := range t.numbers {
		text := strings.TrimSpace(fields[i])
		v, err := t.cell(k, text)
		if err != nil {
			return fmt.Errorf("column %q has %q; %w; ?ignore=%[1]s leaves the column out", t.header[i], text, err)
		}
		r.double = append(r.double, v)
		t.counts[k][len(t.counts[k])-1].add(text)
	}
	if len(r.double) > maxOwnBytes/8 {
		return fmt.Errorf("more than %d GB of numbers", maxOwnBytes>>30)
	}
	return nil
}

const otherText = "save the table as UTF-8, or say what it is, as with ?encoding=windows-1252 for what Excel " +
	"saves in the West"

// notUTF8 also reports what a decoder wrote for bytes that are not.
func notUTF8(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsRune(text, '\uFFFD')
}

// cell reads a cell of input k.
func (t *csvTable) cell(k int, text string) (v float64, err error) {
	is := numbered
	switch strings.ToLower(text) {
	case "true":
		v, is = 1, truths
	case "false":
		v, is = 0, truths
	default:
		if v, err = strconv.ParseFloat(text, 64); err != nil || v-v != 0 {
			return 0, fmt.Errorf("want a number of at most %.2g, with a decimal point, or True and False", math.MaxFloat64)
		}
	}
	if t.truths[k] |= is; t.truths[k] == numbered|truths {
		return 0, errors.New("the column has both numbers and True or False")
	}
	return v, nil
}

// leaveOut takes the columns out of the splits that number their rows: sorted by class, they would
// give the class away. It returns the names of the others.
func (t *csvTable) leaveOut(splits []*rawSplit) (columns []string, err error) {
	var inputs []int // by their place among the numbers
	for k, i := range t.numbers {
		name := t.header[i]
		if slices.Contains(t.keep, name) || !numberRows(t.counts[k], name) {
			inputs, columns = append(inputs, k), append(columns, name)
			continue
		}
		t.notes = append(t.notes, fmt.Sprintf("the column %q numbers the rows and was left out (keep=%s makes it "+
			"an input)", name, name))
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("no column with numbers is left; %s", strings.Join(t.notes, "; "))
	}
	for _, r := range splits {
		r.double, r.vector = selected(r.double, r.vector, inputs), len(inputs)
	}
	return columns, nil
}

// selected returns the columns of a table, row by row, in its own memory.
func selected(values []float64, width int, columns []int) []float64 {
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

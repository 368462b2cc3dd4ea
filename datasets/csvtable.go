package datasets

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
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

func (t *csvTable) read(ctx context.Context, f io.Reader) *rawSplit {
	table := t.text(f)
	header, err := table.Read()
	fail.When(err == io.EOF, "the file is empty")
	fail.If(err)
	t.head(named(slices.Clone(header)))
	r := &rawSplit{vector: len(t.numbers), values: []float32{}}
	for {
		fields, err := table.Read()
		if err == io.EOF {
			break
		}
		fail.If(cmp.Or(err, ctx.Err())) // the former names the line
		t.row(table, r, fields)
	}
	fail.When(len(r.labels) == 0, "there is a header, and no line after it")
	return r
}

// head takes the first line of a file.
func (t *csvTable) head(header []string) {
	fail.When(t.header != nil && !slices.Equal(t.header, header), "it has other columns than the training file, or in another order: %s", some(header))
	if t.header == nil {
		t.label, t.numbers = t.columns(header)
		t.header, t.classes, t.counts = header, map[string]string{}, make([][]rowCounter, len(t.numbers))
	}
	for k := range t.counts {
		t.counts[k] = append(t.counts[k], rowCounter{})
	}
}

// row adds a line of the table.
func (t *csvTable) row(table *csv.Reader, r *rawSplit, fields []string) {
	wrong := func(format string, args ...any) {
		line, _ := table.FieldPos(0)
		fail.Now("line %d: "+format, append([]any{line}, args...)...)
	}
	n := len(t.header)
	if len(fields) < n || strings.Join(fields[n:], "") != "" { // what follows a separator at the end is empty
		wrong("%d fields, and the header has %d names; row names need a name of their own, if only an empty one", len(fields), n)
	}
	class := strings.TrimSpace(fields[t.label])
	if class == "" || strings.ContainsRune(class, '\uFFFD') { // which bytes that are not UTF-8 are, too
		wrong("the class (column %q) is %q; want text in UTF-8", t.header[t.label], class)
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
			wrong("column %q has %q; want a number of at most %.2g, with a decimal point; ?ignore=%[2]s leaves the column out", t.header[i], text, math.MaxFloat32)
		}
		r.values = append(r.values, float32(v))
		t.counts[k][len(t.counts[k])-1].add(text)
	}
	if len(r.values) > maxOwnBytes/4 {
		wrong("more than %d GB of numbers", maxOwnBytes>>30)
	}
}

// leaveOut takes the columns out of the splits that number their rows: sorted by class, they would give the class away.
func (t *csvTable) leaveOut(splits []*rawSplit) {
	var inputs []int // by their place among the numbers
	for k, i := range t.numbers {
		name := t.header[i]
		if slices.Contains(t.keep, name) || !numberRows(t.counts[k], name) {
			inputs = append(inputs, k)
			continue
		}
		t.notes = append(t.notes, fmt.Sprintf("the column %q numbers the rows and was left out (keep=%s makes it an input)", name, name))
	}
	fail.When(len(inputs) == 0, "no column with numbers is left; %s", strings.Join(t.notes, "; "))
	for _, r := range splits {
		r.values, r.vector = selected(r.values, r.vector, inputs), len(inputs)
	}
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

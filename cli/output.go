package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// table is text in columns: rows of cells, of which the first names the columns.
type table struct {
	indent string // before each row
	rows   [][]string
}

// newTable returns a table that has the names of its columns.
func newTable(columns ...any) *table { return new(table).row(columns...) }

// row adds a row. Nothing that a cell quotes can act on the terminal.
func (t *table) row(cells ...any) *table {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = printable.Line(fmt.Sprint(c))
	}
	t.rows = append(t.rows, texts)
	return t
}

func (t *table) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, cells := range t.rows {
		fmt.Fprintln(w, t.indent+strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// print writes a value as JSON if that was asked for, or else as a text.
func (rc *runContext) print(asJSON bool, v any, text func(io.Writer) error) error {
	if !asJSON {
		return text(rc.stdout)
	}
	out := json.NewEncoder(rc.stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// note tells the user something that is not a result, unless --quiet was given.
func (rc *runContext) note(format string, values ...any) {
	if !rc.quiet {
		fmt.Fprintf(rc.stderr, format+"\n", values...)
	}
}

// say is note for a sentence.
func (rc *runContext) say(sentence string) { rc.note("%s", sentence) }

// done says what a command has made, unless --quiet was given.
func (rc *runContext) done(format string, values ...any) error {
	if rc.quiet {
		return nil
	}
	_, err := fmt.Fprintf(rc.stdout, format+"\n", values...)
	return err
}

// progress is where the progress of downloads goes; nil for nowhere.
func (rc *runContext) progress() io.Writer {
	if rc.quiet {
		return nil
	}
	return rc.stderr
}

// standardOutput is what stands for it in flags that name a file to write.
const standardOutput = "-"

// writeTo writes a file, or to the standard output.
func (rc *runContext) writeTo(path string, write func(io.Writer) error) error {
	if path == standardOutput {
		return write(rc.stdout)
	}
	return atomicfile.Write(path, write)
}

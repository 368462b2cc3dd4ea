package viz

import (
	"io"

	"github.com/parallelcl/parallelcl/internal/csvcell"
)

// Table holds the numbers that a figure shows: rows of strings, integers and floating-point numbers
// below a head. A cell without a value is nil or NaN.
type Table struct {
	Head []string
	Rows [][]any
}

// Add adds a row, which has a cell for each entry of the head.
func (t *Table) Add(row ...any) { t.Rows = append(t.Rows, row) }

// writeCSV writes the table, numbers with so many significant digits, of which no figure shows more than four, and nothing
// where there is no value.
func (t *Table) writeCSV(w io.Writer, digits int) error {
	return csvcell.Write(w, func(yield func([]string) bool) {
		yield(t.Head)
		for _, row := range t.Rows {
			line := make([]string, len(row))
			for i, v := range row {
				line[i] = csvcell.Text(v, digits)
			}
			yield(line)
		}
	})
}

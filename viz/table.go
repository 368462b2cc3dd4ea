package viz

import (
	"io"
	"slices"

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

// writeCSV writes the table as CSV, numbers with so many significant digits.
func (t *Table) writeCSV(w io.Writer, digits int) error {
	return csvcell.Write(w, slices.Values(append([][]string{t.Head}, t.texts(digits)...)))
}

// texts returns the cells below the head as texts, empty where there is no value.
func (t *Table) texts(digits int) [][]string {
	out := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		out[i] = make([]string, len(row))
		for k, v := range row {
			out[i][k] = csvcell.Text(v, digits)
		}
	}
	return out
}

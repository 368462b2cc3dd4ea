package viz

import (
	"io"

	"github.com/parallelcl/parallelcl/internal/csvcell"
)

// Table holds what a figure shows, in numbers: a head and rows of strings, integers and floating-point
// numbers. A cell without a value is nil or NaN.
type Table struct {
	Head []string
	Rows [][]any
}

func (t *Table) add(row ...any) { t.Rows = append(t.Rows, row) }

// writeCSV writes the table, numbers with six significant digits, more than any figure shows, and nothing
// where there is no value.
func (t *Table) writeCSV(w io.Writer) error {
	out := csvcell.NewWriter(w)
	out.Write(t.Head)
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = csvcell.Text(v, 6)
		}
		out.Write(line)
	}
	return out.Flush()
}

// entry is that of a list which may be shorter.
func entry(list []float64, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

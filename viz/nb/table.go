package nb

import (
	"fmt"
	"html"
	"math"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/valuetext"
)

// Table shows rows below a head. Numbers are aligned to the right, floating-point numbers have four
// significant digits, NaN is a dash, and long texts wrap. Exported pages sort the rows by the
// column whose head is clicked. Outside a notebook the rows are printed.
func Table(head []string, rows ...[]any) error {
	for i, row := range rows {
		if len(row) != len(head) {
			return report(fmt.Errorf("nb: row %d has %d cells, the head of the table %d", i, len(row), len(head)))
		}
	}
	if !inNotebook() {
		return printTable(head, rows)
	}
	return report(showHTML(tablePage(head, rows), "", ""))
}

// longText is the number of characters from which on a text wraps; shorter ones, and numbers, stay
// in one line.
const longText = 40

// tablePage is a table as a piece of a page.
func tablePage(head []string, rows [][]any) string {
	var b strings.Builder
	row := func(tag string, cell func(j int) string) {
		b.WriteString("<tr>")
		for j := range head {
			text, style := cell(j), "text-align:"+align(rows, j)
			if utf8.RuneCountInString(text) > longText {
				style += ";white-space:normal"
			}
			fmt.Fprintf(&b, `<%s style="%s">%s</%[1]s>`, tag, style, html.EscapeString(text))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("<table><thead>")
	row("th", func(j int) string { return head[j] })
	b.WriteString("</thead><tbody>")
	for _, cells := range rows {
		row("td", func(j int) string { return format(cells[j]) })
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

func printTable(head []string, rows [][]any) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, row := range rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, format(v))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// align is how a column stands, judged by its first row.
func align(rows [][]any, column int) string {
	if len(rows) > 0 && isNumber(rows[0][column]) {
		return "right"
	}
	return "left"
}

func isNumber(v any) bool {
	_, named := v.(fmt.Stringer) // a duration, say
	r := reflect.ValueOf(v)
	return !named && r.IsValid() && (r.CanInt() || r.CanUint() || r.CanFloat())
}

func format(v any) string {
	switch x := v.(type) {
	case float64:
		return number(x)
	case float32:
		return number(float64(x))
	}
	return valuetext.Of(v, cellLimit)
}

// cellLimit is how many bytes of text the value of a cell has.
const cellLimit = 1000

func number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.4g", x)
}

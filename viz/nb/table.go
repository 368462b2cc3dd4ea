package nb

import (
	"fmt"
	"html"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"
)

// Table shows rows below a head: numbers to the right, floating-point numbers with four significant
// digits. Outside a notebook it prints them.
func Table(head []string, rows ...[]any) error {
	for i, row := range rows {
		if len(row) != len(head) {
			return report(fmt.Errorf("nb: row %d has %d cells, the head of the table %d", i, len(row), len(head)))
		}
	}
	if !InNotebook() {
		return printTable(head, rows)
	}
	var b strings.Builder
	b.WriteString("<table><thead><tr>")
	for j, h := range head {
		fmt.Fprintf(&b, `<th style="text-align:%s">%s</th>`, align(rows, j), html.EscapeString(h))
	}
	b.WriteString("</tr></thead><tbody>")
	for _, row := range rows {
		b.WriteString("<tr>")
		for j, v := range row {
			fmt.Fprintf(&b, `<td style="text-align:%s">%s</td>`, align(rows, j), html.EscapeString(format(v)))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return HTML(b.String())
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
	switch reflect.ValueOf(v).Kind() {
	case reflect.Float32, reflect.Float64, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		_, named := v.(fmt.Stringer) // a duration, say
		return !named
	}
	return false
}

func format(v any) string {
	switch x := v.(type) {
	case float64:
		return fmt.Sprintf("%.4g", x)
	case float32:
		return fmt.Sprintf("%.4g", x)
	}
	return fmt.Sprint(v)
}

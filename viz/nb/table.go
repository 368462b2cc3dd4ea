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
)

// Table shows rows below a head, with numbers aligned to the right and floating-point numbers to four
// significant digits; NaN is a dash, for what is not known, and long texts wrap. A click on a name in the head
// sorts by its column, columns of numbers in descending order first; a second click reverses the order. Outside
// a notebook the rows are printed.
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

// tablePage is a table as a piece of a page.
func tablePage(head []string, rows [][]any) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<table class="pcl-table"><thead onclick="%s" onkeydown="if(event.key==='Enter'||event.key===' '){event.preventDefault();event.target.click()}"><tr>`, html.EscapeString(sortScript))
	for j, h := range head {
		if h == "" { // nothing to press, or to be read out
			b.WriteString("<td></td>")
			continue
		}
		fmt.Fprintf(&b, `<th style="text-align:%s" tabindex="0" data-lm-suppress-shortcuts="true" title="sort">%s</th>`, align(rows, j), html.EscapeString(h))
	}
	b.WriteString("</tr></thead><tbody>")
	for _, row := range rows {
		b.WriteString("<tr>")
		for j, v := range row {
			text, wrap := format(v), ""
			if utf8.RuneCountInString(text) > longText {
				wrap = ";white-space:normal"
			}
			fmt.Fprintf(&b, `<td style="text-align:%s%s">%s</td>`, align(rows, j), wrap, html.EscapeString(text))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>" + tableStyle)
	return b.String()
}

// longText is the number of characters from which on a text wraps; shorter ones, and numbers, stay in one line.
const longText = 40

// tableStyle shows that a head can be pressed, and by which column the rows are sorted.
const tableStyle = `<style>
.pcl-table th { cursor: pointer }
.pcl-table th[aria-sort=descending]::after { content: " ↓" }
.pcl-table th[aria-sort=ascending]::after { content: " ↑" }
</style>`

// sortScript sorts the rows by the column whose head was pressed: numbers by what they begin with, as
// "27.4 ± 0.8" does, before texts. Exported pages have a script of their own that does the same.
const sortScript = `var th=event.target.closest('th');if(!th)return;` +
	`var body=this.parentNode.tBodies[0],k=th.cellIndex,value=function(r){var t=r.cells[k].textContent.trim(),n=parseFloat(t.replace('−','-'));return isNaN(n)?t:n},` +
	`rows=Array.from(body.rows),was=th.getAttribute('aria-sort'),down=was?was==='ascending':rows.some(function(r){return typeof value(r)==='number'});` +
	`Array.from(th.parentNode.cells).forEach(function(c){c.removeAttribute('aria-sort')});th.setAttribute('aria-sort',down?'descending':'ascending');` +
	`rows.sort(function(a,b){var x=value(a),y=value(b);if(typeof x!==typeof y)return typeof x==='number'?-1:1;` +
	`var o=typeof x==='number'?x-y:x.localeCompare(y);return down?-o:o}).forEach(function(r){body.appendChild(r)})`

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
	return fmt.Sprint(v)
}

func number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.4g", x)
}

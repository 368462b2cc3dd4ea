package viz

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/csvcell"
)

// numbers are what a reader can ask of a drawing. Notebooks and pages have them as JSON that [Pack]
// has compressed, and viz/internal/script/values.js reads them.
type numbers struct {
	Data   []dataColumn   `json:"data"`   // the figure's table
	Series [][]dataColumn `json:"series"` // of each series x and y, and perhaps low and high
}

// dataColumn is a column of a table. Its JSON is a list of its head, its kind and its cells: a
// text, a number, or null for no number.
type dataColumn struct {
	head  string
	kind  int
	cells []any
}

// Kinds of columns. Any other kind is that of numbers with so many decimals: a cell is an integer,
// the difference from the last row with the same texts, in units of the last decimal. Such cells
// compress best.
const (
	plainNumbers = -1
	texts        = -2 // the number 0 repeats the text of the row above
	mostDecimals = 9
)

// number gives a drawing its numbers: those of a table and of its series.
func (d *drawing) number(data Table) {
	d.numbers = numbers{Data: columnsOf(data.Head, data.texts(4)), Series: [][]dataColumn{}}
	for _, g := range d.series() {
		d.numbers.Series = append(d.numbers.Series, seriesColumns(g.values))
	}
	d.Values = Pack(d.numbers.json())
}

func (n numbers) json() []byte {
	text, _ := json.Marshal(n) // of texts and finite numbers
	return text
}

func seriesColumns(values [][]float64) []dataColumn {
	width := 0
	for _, v := range values {
		width = max(width, len(v))
	}
	rows := make([][]string, len(values))
	for i, v := range values {
		rows[i] = make([]string, width)
		for k, x := range v {
			rows[i][k] = csvcell.Text(x, -1)
		}
	}
	return columnsOf(make([]string, width), rows)
}

// columnsOf returns the columns of rows of texts.
func columnsOf(heads []string, rows [][]string) []dataColumn {
	out, same := make([]dataColumn, len(heads)), make([]string, len(rows))
	for k, head := range heads {
		if out[k] = (dataColumn{head: head, kind: kindOf(rows, k)}); out[k].kind == texts {
			for i, row := range rows {
				same[i] += strconv.Quote(row[k])
			}
		}
	}
	for k := range out {
		out[k].fill(rows, k, same)
	}
	return out
}

// fill gives column k the cells of rows. Rows with the same texts continue each other.
func (c *dataColumn) fill(rows [][]string, k int, same []string) {
	before := map[string]float64{}
	for i, row := range rows {
		text := row[k]
		x, _ := strconv.ParseFloat(text, 64) // which only cells of numbers need
		var cell any
		switch {
		case c.kind == texts && i > 0 && text == rows[i-1][k]:
			cell = 0.0
		case c.kind == texts:
			cell = text
		case text == "":
		case c.kind == plainNumbers:
			cell = x
		default:
			whole := math.Round(x * math.Pow10(c.kind))
			cell, before[same[i]] = whole-before[same[i]], whole
		}
		c.cells = append(c.cells, cell)
	}
}

// kindOf returns the kind of column k. A cell is a number if it is written as programs write
// numbers.
func kindOf(rows [][]string, k int) (kind int) {
	most := 0.0
	for _, row := range rows {
		text := row[k]
		if text == "" {
			continue
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) ||
			strconv.FormatFloat(x, 'g', -1, 64) != text && strconv.FormatFloat(x, 'f', -1, 64) != text {
			return texts
		}
		mantissa, exponent, _ := strings.Cut(text, "e")
		_, decimals, _ := strings.Cut(mantissa, ".")
		moved, _ := strconv.Atoi(exponent)
		kind, most = max(kind, len(decimals)-moved), max(most, math.Abs(x))
	}
	if kind > mostDecimals || most*math.Pow10(kind) > 1<<52 {
		return plainNumbers
	}
	return kind
}

// MarshalJSON writes the column as a list.
func (c dataColumn) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]any{c.head, c.kind}, c.cells...))
}

var errColumn = errors.New("a column of its data is not one of a figure")

// UnmarshalJSON reads the list and checks that values.js can read it.
func (c *dataColumn) UnmarshalJSON(text []byte) error {
	var list []any
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 2 {
		return errColumn
	}
	head, isText := list[0].(string)
	kind, isNumber := list[1].(float64)
	*c = dataColumn{head: head, kind: int(kind), cells: list[2:]}
	if !isText || !isNumber || kind != float64(c.kind) || kind < texts || kind > mostDecimals {
		return errColumn
	}
	for i, cell := range c.cells {
		_, isText := cell.(string)
		x, isNumber := cell.(float64)
		repeats := isNumber && x == 0 && i > 0
		number := isNumber || cell == nil
		if fits := c.kind == texts && (isText || repeats) || c.kind != texts && number; !fits {
			return errColumn
		}
	}
	return nil
}

// Pack compresses a part of a page that only the page's script reads.
func Pack(text []byte) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // which is a level
	w.Write(text)                                      // into memory
	w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// allowance is how much data may still be unpacked. Small as they are packed, the data of a foreign
// notebook could be more than a machine holds.
type allowance struct{ bytes, cells, columns int }

var errTooMuch = errors.New("its data are more than a page can hold")

// unpack reads what Pack made, if it is within the allowance.
func (left *allowance) unpack(packed string) ([]byte, error) {
	unpacked := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	text, err := io.ReadAll(io.LimitReader(unpacked, int64(left.bytes)+1))
	if err != nil {
		return nil, err
	}
	if left.bytes -= len(text); left.bytes < 0 {
		return nil, errTooMuch
	}
	return text, nil
}

// read unpacks a drawing's values. It writes them again, so that a page holds nothing else.
func (d *drawing) read(left *allowance) error {
	if d.Values != "" {
		text, err := left.unpack(d.Values)
		if err != nil {
			return err
		}
		if bytes.Count(text, []byte(",")) > left.cells+4*left.columns {
			return errTooMuch
		}
		if err := json.Unmarshal(text, &d.numbers); err != nil {
			return err
		}
	}
	n := &d.numbers
	for range len(d.series()) - len(n.Series) {
		n.Series = append(n.Series, nil)
	}
	if len(n.Series) != len(d.series()) {
		return errors.New("it has values of series that it does not draw")
	}
	n.Data = append([]dataColumn{}, n.Data...) // a list, if an empty one
	err := left.take(n.Data)
	for i, s := range n.Series {
		n.Series[i] = append([]dataColumn{}, s...)
		err = errors.Join(err, left.take(s), plotted(s))
	}
	d.Values = Pack(d.numbers.json())
	return err
}

// take takes a table from the allowance, if its columns are of one length.
func (left *allowance) take(table []dataColumn) error {
	for _, c := range table {
		if len(c.cells) != len(table[0].cells) {
			return errColumn
		}
		left.cells -= len(c.cells) + 1
	}
	if left.cells < 0 || len(table) > left.columns {
		return errTooMuch
	}
	return nil
}

// plotted returns an error unless a series has x and y, perhaps low and high, and nothing but
// numbers.
func plotted(series []dataColumn) error {
	if n := len(series); n != 0 && n != 2 && n != 4 {
		return errColumn
	}
	for _, c := range series {
		for _, cell := range c.cells {
			if _, ok := cell.(float64); !ok {
				return errColumn
			}
		}
	}
	return nil
}

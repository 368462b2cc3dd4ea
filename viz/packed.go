package viz

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Pack compresses a part of a page that only the page's script reads.
func Pack(text []byte) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // which is a level
	w.Write(text)                                      // into memory
	w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// values are what a reader can ask of the drawing, as JSON: the columns of its data, and for each of its series the columns x, y
// and perhaps low and high.
func (d *drawing) values() []byte {
	if d.data == nil {
		d.data, _ = d.rows(&allowance{math.MaxInt32, math.MaxInt32, math.MaxInt32}) // which are our own
	}
	var series [][]byte
	for _, p := range d.parts() {
		for _, g := range p.Groups {
			if g.Name != "" && len(g.Marks) > 0 {
				series = append(series, packedRows(textsOf(g.At)))
			}
		}
	}
	return slices.Concat([]byte(`{"data":`), packedRows(d.data), []byte(`,"series":[`), bytes.Join(series, []byte(",")), []byte("]}"))
}

// allowance is how much data may still come. Those of frames from elsewhere, small as they are packed, could be more than machines hold.
type allowance struct{ bytes, cells, columns int }

var errTooMuch = errors.New("its data are more than a page can hold")

// take takes some of it.
func (r *allowance) take(rows, columns int) error {
	if r.cells -= rows * max(1, columns); r.cells < 0 || columns > r.columns {
		return errTooMuch
	}
	return nil
}

// rows are the data of the drawing, after a row of heads; none if there are none.
func (d *drawing) rows(r *allowance) ([][]string, error) {
	if len(d.CSV) == 0 {
		return nil, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(d.CSV))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, int64(r.bytes)+1))
	if err != nil {
		return nil, err
	}
	if r.bytes -= len(text); r.bytes < 0 || bytes.Count(text, []byte(","))+bytes.Count(text, []byte("\n")) > r.cells {
		return nil, errTooMuch
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows, r.take(len(rows), len(rows[0]))
}

// fits takes what it needs for the drawing's values.
func (d *drawing) fits(r *allowance) error {
	var err error
	d.data, err = d.rows(r)
	for _, p := range d.parts() {
		for _, g := range p.Groups {
			err = cmp.Or(err, r.take(len(g.At), widest(g.At)))
		}
	}
	return err
}

func widest(at [][]float64) (width int) {
	for _, v := range at {
		width = max(width, len(v))
	}
	return width
}

// textsOf are the values of a series as rows, after one of heads, which they lack.
func textsOf(at [][]float64) (rows [][]string) {
	width := widest(at)
	rows = append(rows, make([]string, width))
	for _, v := range at {
		row := make([]string, width)
		for k, x := range v {
			row[k] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		rows = append(rows, row)
	}
	return rows
}

// Kinds of columns. One of whole numbers has the number of decimal digits that they have lost: what compresses best is by how
// much each differs from the one before that has the same names in its row.
const (
	plainNumbers = -1
	texts        = -2 // of which a 0 repeats the one before
)

// packedRows are rows of texts as columns, each a list of its head, its kind and its cells; null stands for no number.
func packedRows(rows [][]string) []byte {
	if len(rows) == 0 {
		return []byte("[]")
	}
	kinds, names := make([]int, len(rows[0])), make([][]byte, len(rows))
	for k := range kinds {
		if kinds[k] = kindOf(rows[1:], k); kinds[k] == texts {
			for i := range rows {
				names[i] = quoted(names[i], rows[i][k])
			}
		}
	}
	known, same := map[string]int{}, make([]int, len(rows)) // rows of the same names have the same number
	for i, name := range names {
		if _, ok := known[string(name)]; !ok {
			known[string(name)] = len(known)
		}
		same[i] = known[string(name)]
	}
	out := []byte("[")
	for k, kind := range kinds {
		if k > 0 {
			out = append(out, ',')
		}
		out = append(out, '[')
		out = append(quoted(out, rows[0][k]), ","+strconv.Itoa(kind)...)
		last := make([]int, len(known))
		for i := 1; i < len(rows); i++ {
			cell := rows[i][k]
			out = append(out, ',')
			switch {
			case kind == texts && i > 1 && cell == rows[i-1][k]:
				out = append(out, '0')
			case kind == texts:
				out = quoted(out, cell)
			case cell == "":
				out = append(out, "null"...)
			case kind == plainNumbers:
				out = append(out, cell...)
			default:
				x, _ := strconv.ParseFloat(cell, 64)
				whole := int(math.Round(x * math.Pow10(kind)))
				out, last[same[i]] = strconv.AppendInt(out, int64(whole-last[same[i]]), 10), whole
			}
		}
		out = append(out, ']')
	}
	return append(out, ']')
}

func quoted(out []byte, text string) []byte {
	data, _ := json.Marshal(text) // which cannot fail
	return append(out, data...)
}

// kindOf is the kind of a column. Only what is written as programs write numbers is one.
func kindOf(rows [][]string, k int) (kind int) {
	most := 0.0
	for _, row := range rows {
		cell := row[k]
		if cell == "" {
			continue
		}
		x, err := strconv.ParseFloat(cell, 64)
		if err != nil || strconv.FormatFloat(x, 'g', -1, 64) != cell && strconv.FormatFloat(x, 'f', -1, 64) != cell || math.IsInf(x, 0) || math.IsNaN(x) {
			return texts
		}
		mantissa, exponent, _ := strings.Cut(cell, "e")
		_, decimals, _ := strings.Cut(mantissa, ".")
		moved, _ := strconv.Atoi(exponent)
		kind, most = max(kind, len(decimals)-moved), max(most, math.Abs(x))
	}
	if kind > 9 || most*math.Pow10(kind) > 1<<52 {
		return plainNumbers
	}
	return kind
}

package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// notText says what files that are not text are, by their first bytes.
var notText = []struct{ magic, advice string }{
	{"\x1f\x8b", "it is packed with gzip: unpack it with gunzip"},
	{"BZh", "it is packed with bzip2: unpack it with bunzip2"},
	{"\xfd7zXZ", "it is packed with xz: unpack it with unxz"},
	{"\x28\xb5\x2f\xfd", "it is packed with zstd: unpack it with unzstd"},
	{"PK\x03\x04", "it is a zip archive or an Excel workbook: unpack it, or save the sheet as CSV"},
	{"\xd0\xcf\x11\xe0", "it is an Excel workbook: save the sheet as CSV"},
	{"PAR1", "it is a Parquet file: save it as CSV, or its numbers with numpy.savez"},
}

const headBytes = 1 << 16 // in which the first line is looked at

// text returns a reader of a table's lines, whatever their ends and whether they are UTF-8 or
// UTF-16. It notes if the separator was guessed.
func (t *csvTable) text(f io.Reader) (*csv.Reader, error) {
	decoder := transform.Transformer(transform.Nop)
	if t.encoding != nil {
		decoder = t.encoding.NewDecoder()
	}
	in := bufio.NewReaderSize(transform.NewReader(f, unicode.BOMOverride(decoder)), headBytes)
	head, err := in.Peek(headBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, n := range notText {
		if bytes.HasPrefix(head, []byte(n.magic)) {
			return nil, errors.New(n.advice)
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, errors.New("it has zero bytes: save it as text in UTF-8 (it is binary, or UTF-16 without a byte " +
			"order mark, which ?encoding=utf-16le reads)")
	}
	if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 { // as on old Macs
		in = bufio.NewReaderSize(transform.NewReader(in, runes.Map(func(r rune) rune {
			if r == '\r' {
				return '\n'
			}
			return r
		})), headBytes)
		head, _ = in.Peek(headBytes)
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	comma := separator(string(line))
	if said, ok := bytes.CutPrefix(bytes.Trim(line, "\"\r"), []byte("sep=")); ok { // a line for Excel
		comma, _ = utf8.DecodeRune(said)
		in.Discard(len(line) + 1)
	}
	comma = cmp.Or(t.comma, comma)
	if !strings.ContainsRune(separators, comma) {
		return nil, fmt.Errorf("its first line says that %q separates the columns; want one of %s", comma, separators)
	}
	note := fmt.Sprintf("the columns are taken to be separated by %q", comma)
	if t.comma == 0 && comma != ',' && !slices.Contains(t.notes, note) {
		t.notes = append(t.notes, note)
	}
	table := csv.NewReader(in)
	table.Comma, table.ReuseRecord, table.FieldsPerRecord = comma, true, -1
	table.TrimLeadingSpace = comma != '\t' // it would take empty cells for space
	return table, nil
}

const separators = ",;|\t"

var inQuotes = regexp.MustCompile(`"[^"]*"`)

// separator returns the separator that is in a header most often.
func separator(header string) rune {
	header, best := inQuotes.ReplaceAllString(header, ""), ','
	for _, r := range separators {
		if strings.Count(header, string(r)) > strings.Count(header, string(best)) {
			best = r
		}
	}
	return best
}

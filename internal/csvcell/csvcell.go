// Package csvcell writes and reads the cells of CSV files, such that no spreadsheet takes a text
// for a formula.
package csvcell

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Text returns the text of a value. A floating-point number has the given number of significant
// digits, or all of its digits if it is whole, as a number of steps is; −1 stands for as many
// digits as it takes to read back the same number. The text of nil and of NaN is empty.
func Text(v any, digits int) string {
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		switch {
		case math.IsNaN(x):
			return ""
		case digits > 0 && x == math.Trunc(x) && math.Abs(x) < 1e15:
			return strconv.FormatInt(int64(x), 10)
		}
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	return fmt.Sprint(v)
}

// Write writes lines, and asks for all of them even if one cannot be written. A cell that a
// spreadsheet may take for a formula has an apostrophe before it.
func Write(out io.Writer, lines iter.Seq[[]string]) error {
	w := csv.NewWriter(out)
	for line := range lines {
		line = slices.Clone(line)
		for i, cell := range line {
			if formula(cell) {
				line[i] = "'" + cell
			}
		}
		_ = w.Write(line) // Error returns the first error
	}
	w.Flush()
	return w.Error()
}

// ReadAll reads what [Write] wrote.
func ReadAll(in io.Reader) ([][]string, error) {
	lines, err := csv.NewReader(in).ReadAll()
	for _, line := range lines {
		for i, cell := range line {
			if plain, marked := strings.CutPrefix(cell, "'"); marked && formula(plain) {
				line[i] = plain
			}
		}
	}
	return lines, err
}

// formula says whether a text is no number and begins as formulas do, if need be behind quotes and
// what cannot be seen. Wide signs count too: spreadsheets of East Asia read them so.
func formula(text string) bool {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return false
	}
	rest := strings.TrimLeftFunc(text, func(r rune) bool {
		return r == '\'' || r == '"' || unicode.IsSpace(r) || !unicode.IsGraphic(r)
	})
	first, _, _ := strings.Cut(text, rest)
	return strings.ContainsAny(first, "\t\r\n") || rest != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(rest)[0])
}

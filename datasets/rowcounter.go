package datasets

import (
	"math"
	"regexp"
	"slices"
	"strconv"
)

// A rowCounter finds out whether a column numbers the rows.
type rowCounter struct {
	values []float64 // whole numbers so far
	other  bool      // it has others, or one of them twice
}

func (c *rowCounter) add(text string) {
	if c.other {
		return
	}
	v, err := strconv.ParseFloat(text, 64)
	c.values = append(c.values, v)
	// Other columns are forgotten soon: repeated values are looked for when there are 2, 4, 8, …
	// values.
	if n := len(c.values); err != nil || v != math.Trunc(v) || n&(n-1) == 0 && c.twice() {
		*c = rowCounter{other: true}
	}
}

func (c *rowCounter) twice() bool {
	slices.Sort(c.values)
	return len(slices.Compact(slices.Clone(c.values))) < len(c.values)
}

// rowNumbers are names of columns that number rows.
var rowNumbers = regexp.MustCompile(
	`(?i)^(unnamed: \d+|#|no|nr|row[ ._-]?(names?|num(ber)?)?|(.+[ ._-])?(id|idx|index))$`)

const fewRows = 8 // may be whole numbers in a row by chance

// running reports whether the column has each of a range of whole numbers once, in any order. If it
// is called so, there may be few of them, and some missing, as after rows were removed.
func (c *rowCounter) running(name string) bool {
	n := len(c.values)
	if c.other || n < 2 || c.twice() {
		return false
	}
	return rowNumbers.MatchString(name) || n >= fewRows && c.values[n-1]-c.values[0] == float64(n-1)
}

// numberRows reports whether a column numbers the rows of each file, or those of all.
func numberRows(files []rowCounter, name string) bool {
	each, all := true, rowCounter{}
	for _, c := range files {
		each = each && c.running(name)
		all.values, all.other = append(all.values, c.values...), all.other || c.other
	}
	return each || all.running(name)
}

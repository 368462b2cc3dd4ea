package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/alike"
)

// labelColumns are the names of the column with the classes that need not be said.
var labelColumns = []string{"label", "class", "target", "y"}

// completed gives columns of a header without a name the name that pandas gives them. Empty names
// at the end are dropped: they stand for a separator there.
func completed(header []string) []string {
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	for len(header) > 1 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	for i, name := range header {
		if name == "" {
			header[i] = fmt.Sprintf("Unnamed: %d", i)
		}
	}
	return header
}

// columns returns which column has the classes and which have numbers.
func (c *csvFile) columns(header []string) (label int, numbers []int, err error) {
	if isData(header) {
		return 0, nil, fmt.Errorf("the first line has numbers: %.80q; want the names of the "+
			"columns", strings.Join(header, ", "))
	}
	for i, name := range header {
		if first := slices.Index(header, name); first < i {
			return 0, nil, fmt.Errorf("the columns %d and %d are both called %q: rename one", first+1, i+1, name)
		}
		if notUTF8(name) {
			return 0, nil, fmt.Errorf("the name of column %d is %q, which is not UTF-8: %s", i+1, name, otherText)
		}
	}
	for _, name := range slices.Concat(c.ignore, c.keep) {
		if !slices.Contains(header, name) {
			return 0, nil, fmt.Errorf("ignore= or keep= names the column %s; the columns "+
				"are %s%s", name, some(header), alike.Hint(name, header))
		}
	}
	if label, err = c.labelColumn(header); err != nil {
		return 0, nil, err
	}
	for i, h := range header {
		if i != label && !slices.Contains(c.ignore, h) {
			numbers = append(numbers, i)
		}
	}
	if len(numbers) == 0 {
		return 0, nil, errors.New("no column with numbers")
	}
	return label, numbers, nil
}

// isData reports whether a first line has data: numbers, but for one field, which may be a class.
// Whole numbers in a row are names that pandas gives.
func isData(header []string) bool {
	var found []float64
	for _, name := range header {
		if v, err := strconv.ParseFloat(name, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			found = append(found, v)
		}
	}
	if len(found) == 0 || len(found) < len(header)-1 {
		return false
	}
	for i, v := range found {
		if v != math.Trunc(found[0])+float64(i) {
			return true
		}
	}
	return false
}

// labelColumn returns which column has the classes. If two may have them, it is an error: as an
// input, the second would tell a network the class.
func (c *csvFile) labelColumn(header []string) (int, error) {
	known := []string{c.label}
	if c.label == "" {
		known = slices.DeleteFunc(slices.Clone(header), func(h string) bool {
			usual := slices.ContainsFunc(labelColumns, func(n string) bool { return strings.EqualFold(h, n) })
			return !usual || slices.Contains(c.ignore, h)
		})
	}
	if len(known) > 1 {
		return 0, fmt.Errorf("the columns %s may all have the classes: name the one with ?label=NAME, and leave the "+
			"others out with ignore=NAME unless they are inputs", strings.Join(known, ", "))
	}
	label := slices.Index(header, strings.Join(known, ""))
	if label < 0 {
		return 0, fmt.Errorf("no column %s has the classes: name it with ?label=NAME; the columns are %s%s",
			cmp.Or(c.label, strings.Join(labelColumns, ", ")), some(header), alike.Hint(c.label, header))
	}
	if slices.Contains(c.ignore, header[label]) {
		return 0, fmt.Errorf("the column %q has the classes, and cannot be left out with ignore=", header[label])
	}
	return label, nil
}

// some lists the first of many names.
func some(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + fmt.Sprintf(" and %d more", len(names)-12)
	}
	return strings.Join(names, ", ")
}

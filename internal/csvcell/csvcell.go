// Package csvcell writes values as cells of CSV files.
package csvcell

import (
	"fmt"
	"math"
	"strconv"
)

// Text returns the text of a value. Floating-point numbers have the given number of significant digits; −1 stands for as
// many as it takes to read the same number. What there is not, nil or NaN, is empty.
func Text(v any, digits int) string {
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	return fmt.Sprint(v)
}

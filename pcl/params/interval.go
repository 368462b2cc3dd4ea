package params

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// interval is the range of a number: a text such as "[0,1)" or "whole [1,1e9]". Without a text it
// is all finite numbers; infinity is in range where the text has "inf]". An end may be "pi".
// "float32 (0,inf)" are the numbers above 0 that keep their digits in float32.
type interval struct {
	text         string
	whole        bool
	float32      bool
	least, most  float64
	above, below bool // whether the ends themselves are out of range
}

// The positive numbers that float32 holds with all of its digits.
const leastFloat32, mostFloat32 = 0x1p-126, math.MaxFloat32

func parseInterval(text string) (i interval, err error) {
	if text == "" {
		return i, nil
	}
	ends, whole := strings.CutPrefix(text, "whole ")
	ends, narrow := strings.CutPrefix(ends, "float32 ")
	least, most, ok := strings.Cut(strings.Trim(ends, "[]()"), ",")
	if !ok || !strings.ContainsAny(ends[:1], "[(") || !strings.ContainsAny(ends[len(ends)-1:], "])") {
		return i, fmt.Errorf("the range %q is not an interval such as [0,1)", text)
	}
	i = interval{text: text, whole: whole, float32: narrow, above: ends[0] == '(', below: ends[len(ends)-1] == ')'}
	if i.least, err = parseEnd(least); err == nil {
		i.most, err = parseEnd(most)
	}
	return i, err
}

func parseEnd(text string) (float64, error) {
	if text == "pi" {
		return math.Pi, nil
	}
	return strconv.ParseFloat(text, 64)
}

// CheckRange returns an error if a number is outside a range, written as in the tag "range". An
// empty range takes every finite number.
func CheckRange(x float64, within string) error {
	i, err := parseInterval(within)
	if err != nil {
		panic("params: " + err.Error())
	}
	return i.check(x)
}

func (i interval) check(x float64) error {
	if !i.has(x) {
		return fmt.Errorf("%g is out of range; want %s", x, i)
	}
	if i.whole && x != math.Trunc(x) {
		return fmt.Errorf("%g is not whole; want %s", x, i)
	}
	return nil
}

func (i interval) has(x float64) bool {
	if i.text == "" {
		return x-x == 0
	}
	if i.float32 && (x > mostFloat32 || i.above && x < leastFloat32) {
		return false
	}
	return x >= i.least && x <= i.most && !(i.above && x == i.least) && !(i.below && x == i.most)
}

// String says in words which numbers are in range, as in "a whole number from 1 to 9".
func (i interval) String() string {
	kind, low, high := "a number", "", ""
	if i.whole {
		kind = "a whole number"
	}
	switch {
	case math.IsInf(i.least, -1):
	case i.above:
		low = " above " + plain(i.least)
	default:
		low = " of at least " + plain(i.least)
	}
	switch {
	case math.IsInf(i.most, 1) && !i.below:
		high = " or inf"
	case math.IsInf(i.most, 1):
	case i.below:
		high = " below " + plain(i.most)
	default:
		high = " of at most " + plain(i.most)
	}
	switch {
	case i.text == "":
		return "a finite number"
	case i.float32 && i.above:
		return kind + low + " that float32 holds with all digits: 1.2e-38 to 3.4e38"
	case i.float32:
		return kind + low + " that float32 holds: up to 3.4e38"
	case low == "" || high == "" || high == " or inf":
		return kind + low + high
	case !i.above && !i.below:
		return kind + " from " + plain(i.least) + " to " + plain(i.most)
	}
	return kind + low + " and" + strings.Replace(high, " of at", " at", 1)
}

// plain writes a number as short as it can be, such as 1e9 or 0.001.
func plain(x float64) string {
	if x == math.Pi {
		return "π"
	}
	long := strconv.FormatFloat(x, 'f', -1, 64)
	short := strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(x, 'e', -1, 64))
	if len(short) < len(long) && !(math.Abs(x) >= 1e-4 && math.Abs(x) < 1) {
		return short
	}
	return long
}

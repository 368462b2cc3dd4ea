package params

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// interval is the range of a number: a text such as "[0,1)" or "whole [1,1e9]". Without a text it is all finite numbers;
// infinity is in range where the text has "inf]".
type interval struct {
	text         string
	whole        bool
	least, most  float64
	above, below bool // whether the ends themselves are out of range
}

func parseInterval(text string) (i interval, err error) {
	if text == "" {
		return i, nil
	}
	ends, whole := strings.CutPrefix(text, "whole ")
	least, most, ok := strings.Cut(strings.Trim(ends, "[]()"), ",")
	if !ok || !strings.ContainsAny(ends[:1], "[(") || !strings.ContainsAny(ends[len(ends)-1:], "])") {
		return i, fmt.Errorf("the range %q is not an interval such as [0,1)", text)
	}
	i = interval{text: strings.Replace(ends, ",", ", ", 1), whole: whole, above: ends[0] == '(', below: ends[len(ends)-1] == ')'}
	if i.least, err = strconv.ParseFloat(least, 64); err != nil {
		return i, err
	}
	i.most, err = strconv.ParseFloat(most, 64)
	return i, err
}

// InRange returns an error if a number is outside a range, written as in the tag "range". An empty range takes every finite
// number.
func InRange(x float64, within string) error {
	i, err := parseInterval(within)
	if err != nil {
		panic("params: " + err.Error())
	}
	return i.check(x)
}

func (i interval) check(x float64) error {
	if i.text == "" {
		if x-x != 0 {
			return fmt.Errorf("%g is out of range; want a finite number", x)
		}
		return nil
	}
	if !(x >= i.least && x <= i.most) || i.above && x == i.least || i.below && x == i.most {
		return fmt.Errorf("%g is out of range; want a number in %s", x, i.text)
	}
	if i.whole && x != math.Trunc(x) {
		return fmt.Errorf("%g is not whole; want a whole number in %s", x, i.text)
	}
	return nil
}

package datasets

import (
	"cmp"
	"strings"
)

// natural compares names as people order them: "img9" comes before "img10". Names that differ only
// in leading zeros are ordered as text.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := leading(x), leading(y)
		if dx > 0 && dy > 0 {
			m, n := strings.TrimLeft(x[:dx], "0"), strings.TrimLeft(y[:dy], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			x, y = x[dx:], y[dy:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// leading is how many digits s begins with.
func leading(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

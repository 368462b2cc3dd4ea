// Package plural writes numbers of things.
package plural

import (
	"fmt"
	"math"
)

// Of is a number of things: "1 run", "2 runs". what is the singular of a noun whose plural ends in
// s.
func Of(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Bytes writes a number of bytes in the unit in which people say it.
func Bytes(n int) string {
	switch x := float64(n); {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_500:
		return fmt.Sprintf("%.0f kB", x/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1f MB", x/1e6)
	case n < 999_500_000:
		return fmt.Sprintf("%.0f MB", x/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// Time writes a time in the unit in which people say it.
func Time(seconds float64) string {
	switch {
	case seconds < 59.5:
		return Of(int(math.Round(seconds)), "second")
	case seconds < 7200:
		return Of(int(math.Round(seconds/60)), "minute")
	}
	return fmt.Sprintf("%.1f hours", seconds/3600)
}

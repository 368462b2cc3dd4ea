// Package plural writes numbers of things.
package plural

import "fmt"

// Of is a number of things: "1 run", "2 runs". what is the singular of a noun whose plural ends in
// s.
func Of(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

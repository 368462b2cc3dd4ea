package datasets

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/parallelcl/parallelcl/internal/fail"
)

var zeroDecimals = regexp.MustCompile(`^([+-]?\d+)\.0*$`)

// alike returns what names that look the same have in common: it is without invisible characters, case, ways to
// write an accent or a space, and the decimals of a whole number. A single letter keeps its case, since sets of letters
// have both.
func alike(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	name = zeroDecimals.ReplaceAllString(strings.Join(strings.Fields(name), " "), "$1")
	if utf8.RuneCountInString(name) > 1 {
		name = norm.NFKC.String(cases.Fold().String(name))
	}
	return name
}

// distinct ends with an error if two classes look alike: they are one class that was written in two ways, or people cannot
// tell them apart in results.
func distinct(classes []string) {
	seen := map[string]string{}
	for _, c := range classes {
		key := alike(c)
		other, taken := seen[key]
		fail.When(taken, "the classes %+q and %+q look alike: join or rename them", other, c)
		seen[key] = c
	}
}

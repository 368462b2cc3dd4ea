// Package alike finds names that look the same to people and are not the same to a computer.
package alike

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var zeroDecimals = regexp.MustCompile(`^([+-]?\d+)\.0*$`)

// Key returns what names that look the same have in common: it is without invisible characters,
// case, ways to write an accent or a space, and the decimals of a whole number. A single letter
// keeps its case, since sets of letters have both.
func Key(name string) string {
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

// Distinct returns an error if two names look alike: they are one name that was written in two
// ways, or people cannot tell them apart in results.
func Distinct(names []string) error {
	seen := map[string]string{}
	for _, n := range names {
		key := Key(n)
		if other, taken := seen[key]; taken {
			return fmt.Errorf("the classes %+q and %+q look alike: join or rename them", other, n)
		}
		seen[key] = n
	}
	return nil
}

// Hint ends a message that a name is missing among others, if one of them looks the same.
// Otherwise, and if the name is there, it is empty.
func Hint(name string, names []string) string {
	if slices.Contains(names, name) {
		return ""
	}
	for _, n := range names {
		if Key(n) != Key(name) {
			continue
		}
		if norm.NFC.String(n) == norm.NFC.String(name) {
			return fmt.Sprintf(": %+q and %+q are one name in two forms of Unicode, as when one of them came from a Mac: "+
				"write both in one form", name, n)
		}
		return fmt.Sprintf(": %+q and %+q look alike: write the name in one way", name, n)
	}
	return ""
}

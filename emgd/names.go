package emgd

import (
	"fmt"
	"slices"
	"strings"
)

// The numbers of [Rule] and [Status] have names, which JSON and the command line use.

func nameOf(names []string, n int) string {
	if n < 0 || n >= len(names) {
		return fmt.Sprintf("unknown (%d)", n)
	}
	return names[n]
}

func writeName(names []string, n int) ([]byte, error) {
	if n < 0 || n >= len(names) {
		return nil, fmt.Errorf("emgd: %d is not the number of any of %s", n, strings.Join(names, ", "))
	}
	return []byte(names[n]), nil
}

func readName(names []string, text []byte, n *int) error {
	if *n = slices.Index(names, string(text)); *n < 0 {
		return fmt.Errorf("emgd: unknown name %q; want one of %s", text, strings.Join(names, ", "))
	}
	return nil
}

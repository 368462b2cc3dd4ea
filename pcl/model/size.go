package model

import (
	"fmt"
	"slices"
)

// mostEntries bounds the parameters and statistics of a network, and the values of a sample: more
// than any machine holds, and few enough that no size overflows.
const mostEntries = 1 << 40

// checkLayout returns an error if a network has too many parameters. Its own counts may have
// overflowed.
func checkLayout(key string, l *Layout) error {
	n := 0.0
	for _, p := range slices.Concat(l.Params, l.Stats) {
		n += entries(p.Dims...)
	}
	if n > mostEntries {
		return fmt.Errorf("model: %q would have %.2g parameters and statistics; at most %d are accepted", key, n, mostEntries)
	}
	return nil
}

func entries(dims ...int) float64 {
	n := 1.0
	for _, d := range dims {
		n *= float64(d)
	}
	return n
}

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// shard is a part of the runs, as a flag.
type shard struct{ experiment.Shard }

// UnmarshalText reads "I/N".
func (s *shard) UnmarshalText(text []byte) error {
	var ok bool
	if s.I, s.N, ok = twoNumbers(text, "/"); !ok || s.I < 0 || s.I >= s.N {
		return fmt.Errorf("%q is not a part I/N of the runs, with 0 ≤ I < N", text)
	}
	return nil
}

// twoNumbers reads two whole numbers with a separator between them.
func twoNumbers(text []byte, separator string) (a, b int, ok bool) {
	first, second, _ := strings.Cut(string(text), separator)
	a, err1 := strconv.Atoi(first)
	b, err2 := strconv.Atoi(second)
	return a, b, err1 == nil && err2 == nil
}

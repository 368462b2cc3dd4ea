package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// shard is a part of the runs: the I-th of N, counted from 0.
type shard struct{ I, N int }

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

// of is the part of a grid, to which runs belong by their ids.
func (s shard) of() experiment.Shard { return experiment.Shard{I: s.I, N: s.N} }

// every returns every N-th of the configurations, beginning with the I-th, which may be a part themselves.
func (s shard) every(configs []experiment.Checked) []experiment.Checked {
	if s.N == 0 {
		return configs
	}
	var out []experiment.Checked
	for i := s.I; i < len(configs); i += s.N {
		out = append(out, configs[i])
	}
	return out
}

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// partVariable is the environment variable that tells a process of --jobs its part of the runs. The arguments of such
// a process are the same as those of the process that started it.
const partVariable = "PARALLELCL_PART_OF_JOBS"

// ownPart returns this process's part of the runs. isPart is false if it was not started as a process of --jobs.
func ownPart() (part shard, isPart bool, err error) {
	text, isPart := os.LookupEnv(partVariable)
	if !isPart || text == "" {
		return shard{}, false, nil
	}
	if err := part.UnmarshalText([]byte(text)); err != nil {
		return shard{}, true, fmt.Errorf("$%s: %w", partVariable, err)
	}
	return part, true, nil
}

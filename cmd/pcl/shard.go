package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// shard is a part of the runs: every N-th of them, from the I-th on.
type shard struct{ I, N int }

// UnmarshalText reads "I/N", I from 0.
func (s *shard) UnmarshalText(text []byte) error {
	first, of, _ := strings.Cut(string(text), "/")
	var err1, err2 error
	s.I, err1 = strconv.Atoi(first)
	s.N, err2 = strconv.Atoi(of)
	if err1 != nil || err2 != nil || s.I < 0 || s.I >= s.N {
		return fmt.Errorf("%q is no part I/N of the runs, 0 ≤ I < N", text)
	}
	return nil
}

// of returns the part of the configurations. The part of a part is one too.
func (s shard) of(configs []experiment.Config) []experiment.Config {
	if s.N == 0 {
		return configs
	}
	var out []experiment.Config
	for i := s.I; i < len(configs); i += s.N {
		out = append(out, configs[i])
	}
	return out
}

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// partVariable names the environment variable that gives a process of --jobs its part of the runs. Its arguments
// are those of the process that began it.
const partVariable = "PARALLELCL_PART_OF_JOBS"

// ownPart is this process's part; false where no other has begun it.
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

package cli

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// shard is a part of the runs, as a flag.
type shard struct{ experiment.Shard }

// UnmarshalText reads "I/N".
func (s *shard) UnmarshalText(text []byte) error {
	if n, err := fmt.Sscanf(string(text)+"\n", "%d/%d\n", &s.I, &s.N); n != 2 || err != nil || s.I < 0 || s.I >= s.N {
		return fmt.Errorf("%q is not a part I/N of the runs, with 0 ≤ I < N", text)
	}
	return nil
}

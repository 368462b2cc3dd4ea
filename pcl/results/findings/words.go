package findings

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// tooFew says that no test of so many situations could tell anything.
func tooFew(situations, tests int) string {
	needed := max(stats.MinPairs, stats.Needed(Alpha, tests))
	among := ""
	if tests > 1 {
		among = fmt.Sprintf(" for %d comparisons", tests)
	}
	return fmt.Sprintf("With %s no exact test can be significant at the 5 %% level; at least %d are needed%s.", plural.Of(situations, "situation"), needed, among)
}

package findings

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

// tooFew says that no test of so many situations could tell anything.
func tooFew(situations, tests int) string {
	needed := max(stats.MinPairs, stats.Needed(Alpha, tests))
	among := ""
	if tests > 1 {
		among = fmt.Sprintf(" for %d comparisons", tests)
	}
	return fmt.Sprintf("Of %s no exact test can be significant at the level of 5 %%; it takes %d%s.", count(situations, "situation"), needed, among)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

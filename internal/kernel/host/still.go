package host

import (
	"fmt"
	"regexp"
	"runtime/pprof"
	"strings"
)

// inCell finds a line of a cell.
var inCell = regexp.MustCompile(`In\[\d+\]:\d+`)

// still says what of a cell goes on: which functions of libraries its goroutines have called, and
// where in cells.
func still(id int) string {
	var profile strings.Builder
	pprof.Lookup("goroutine").WriteTo(&profile, 1)
	var texts []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		_, frames, ofCell := strings.Cut(stack, fmt.Sprintf("# labels: {%q:\"%d\"}\n", cellLabel, id))
		if !ofCell {
			continue
		}
		called, at := "", ""
		for line := range strings.Lines(frames) { // the innermost first
			if at = inCell.FindString(line); at != "" {
				break
			}
			if f := strings.Fields(line); len(f) > 2 {
				called, _, _ = strings.Cut(f[2], "+0x")
			}
		}
		if called != "" && at != "" {
			called += ", called at "
		}
		texts = append(texts, called+at)
	}
	if n := len(texts); n > 5 {
		texts = append(texts[:5], fmt.Sprintf("and %d more", n-5))
	}
	return strings.Join(texts, "; ")
}

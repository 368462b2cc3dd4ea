package jupyter

import (
	"regexp"
	"slices"
	"strings"
)

// A pastCell is a cell that has run. All are of session 1, since the next kernel doesn't know them.
type pastCell struct {
	number int
	code   string
	result any // its text, or nil
}

// past answers a history_request, the oldest cells first.
func (s *server) past(c content) fields {
	s.mu.Lock()
	cells := slices.Clone(s.history)
	s.mu.Unlock()
	switch c.Access {
	case "range": // sessions that are not positive are counted back from this one
		cells = slices.DeleteFunc(cells, func(p pastCell) bool {
			return c.Session < 0 || c.Session > 1 || p.number < c.Start || c.End != nil && p.number >= *c.End
		})
	case "search":
		cells = search(cells, c.Pattern, c.Unique)
	}
	if c.N != nil {
		cells = cells[max(0, len(cells)-max(*c.N, 0)):]
	}
	lines := [][]any{}
	for _, p := range cells {
		line := []any{1, p.number, p.code}
		if c.Output {
			line[2] = []any{p.code, p.result}
		}
		lines = append(lines, line)
	}
	return fields{"history": lines}
}

// search returns the cells whose whole code fits a pattern with * and ?; of equal ones only the last, if unique is set.
func search(cells []pastCell, pattern string, unique bool) (found []pastCell) {
	pattern = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
	fits := regexp.MustCompile("(?s)^" + pattern + "$")
	seen := map[string]bool{}
	for _, p := range slices.Backward(cells) {
		if fits.MatchString(p.code) && !seen[p.code] {
			seen[p.code] = unique
			found = append(found, p)
		}
	}
	slices.Reverse(found)
	return found
}

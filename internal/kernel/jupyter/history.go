package jupyter

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// history is the code of the cells of this kernel and of earlier ones.
type history struct {
	mu      sync.Mutex
	session int
	cells   []pastCell
	file    *os.File // nil: kept in memory alone
}

type pastCell struct {
	Session int    `json:"session"`
	Number  int    `json:"number"`
	Code    string `json:"code"`
	Result  any    `json:"result"` // its text, or nil
}

// openHistory reads the history in a file, which it goes on. If the file can't be used, only other kernels' cells are lost.
func openHistory(file string) *history {
	h := &history{session: 1}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return h
	}
	h.file = f
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return h
		}
		var c pastCell
		if json.Unmarshal(line, &c) == nil {
			h.cells = append(h.cells, c)
			h.session = max(h.session, c.Session+1)
		}
	}
}

func (h *history) add(number int, code string, result fields) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := pastCell{h.session, number, code, result["text/plain"]}
	h.cells = append(h.cells, c)
	if line, err := json.Marshal(c); err == nil && h.file != nil {
		h.file.Write(append(line, '\n')) // in one piece, for a kernel beside this one
	}
}

// historyContent is the content of a history_request.
type historyContent struct {
	Output         bool
	Access         string `json:"hist_access_type"`
	Session, Start int
	Stop, N        *int
	Pattern        string
	Unique         bool
}

func (s *server) past(c historyContent) (fields, error) {
	lines := [][]any{}
	for _, cell := range s.history.find(c) {
		line := []any{cell.Session, cell.Number, cell.Code}
		if c.Output {
			line[2] = []any{cell.Code, cell.Result}
		}
		lines = append(lines, line)
	}
	return fields{"history": lines}, nil
}

// find returns cells, the oldest first.
func (h *history) find(c historyContent) []pastCell {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := h.cells
	switch c.Access {
	case "range":
		return h.within(c)
	case "search":
		found = search(found, c.Pattern, c.Unique)
	}
	if c.N != nil {
		found = found[max(0, len(found)-max(*c.N, 0)):]
	}
	return slices.Clone(found)
}

// within returns the cells of a session, which is counted back from this one where it is not positive, by their numbers.
func (h *history) within(c historyContent) (found []pastCell) {
	if c.Session <= 0 {
		c.Session += h.session
	}
	for _, cell := range h.cells {
		if cell.Session == c.Session && cell.Number >= c.Start && (c.Stop == nil || cell.Number < *c.Stop) {
			found = append(found, cell)
		}
	}
	return found
}

// search returns the cells whose whole code fits a pattern with * and ?; of equal ones only the last, if unique is set.
func search(cells []pastCell, pattern string, unique bool) (found []pastCell) {
	pattern = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
	fits := regexp.MustCompile("(?s)^" + pattern + "$")
	seen := map[string]bool{}
	for _, c := range slices.Backward(cells) {
		if fits.MatchString(c.Code) && !seen[c.Code] {
			seen[c.Code] = unique
			found = append(found, c)
		}
	}
	slices.Reverse(found)
	return found
}

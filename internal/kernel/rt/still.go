package rt

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
)

// goroutine is what the runtime says of one.
var goroutine = regexp.MustCompile(
	`(?s)^goroutine (\d+) .*?\[([^],]*).*?\]:\n(.*?)(?:created by \S+ in goroutine (\d+)\n(.*))?$`)

// inCell finds a line of a cell.
var inCell = regexp.MustCompile(`In\[\d+\]:\d+`)

// self is the number of this goroutine.
func self() (id string) {
	buf := make([]byte, 64)
	fmt.Sscanf(string(buf[:runtime.Stack(buf, false)]), "goroutine %s", &id)
	return id
}

// still says which goroutines are there that began with one, or that it has started: what they do,
// and where in cells.
func still(first string) string {
	buf := make([]byte, 1<<20)
	var of, texts []string
	of = append(of, first)
	groups := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	for i := 0; i < len(of); i++ {
		for _, text := range groups {
			m := goroutine.FindStringSubmatch(text + "\n")
			if m == nil || m[1] != of[i] && m[4] != of[i] {
				continue
			}
			if m[1] == of[i] {
				texts = append(texts, doing(m[2], m[3], m[5]))
			} else if m[1] != first {
				of = append(of, m[1])
			}
		}
	}
	if n := len(texts); n > 5 {
		texts = append(texts[:5], fmt.Sprintf("and %d more", n-5))
	}
	return strings.Join(texts, "; ")
}

// doing says what a goroutine does: the function of a library that a cell has called, or what it
// waits for.
func doing(state, frames, created string) string {
	called, at := "", inCell.FindString(created)
	for line := range strings.Lines(frames) {
		if found := inCell.FindString(line); found != "" {
			at = found
			break
		}
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, CellPath) && !strings.HasPrefix(line, "panic(") {
			if end := strings.LastIndexByte(line, '('); end > 0 {
				called = line[:end]
			}
		}
	}
	what := "waits (" + state + ")"
	switch state {
	case "running", "runnable", "syscall":
		what = "goes on"
	}
	if called == "" {
		called = "what it does"
	}
	if at == "" {
		return called + " " + what
	}
	return fmt.Sprintf("%s, called at %s, %s", called, at, what)
}

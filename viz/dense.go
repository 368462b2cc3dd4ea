package viz

import (
	"strconv"
	"strings"
)

// arguments is how many numbers a command of a path takes.
var arguments = map[byte]int{'M': 2, 'L': 2, 'l': 2, 'C': 6, 'c': 6, 'Q': 4, 'q': 4}

// dense writes a path of a drawing in whole units, each step in the fewest characters: as it goes on from the last, and along one
// axis where it does not leave it.
func dense(path string) string {
	w, begun := denseWriter{}, [2]int{}
	for path != "" {
		command, rest := path[0], path[1:]
		end := strings.IndexAny(rest, "MLCQlcqZ")
		if end < 0 {
			end = len(rest)
		}
		path = rest[end:]
		if command == 'Z' {
			w.text, w.command, w.at = append(w.text, 'Z'), 'Z', begun
		}
		n := arguments[command]
		for to := unitsIn(rest[:end]); n > 0 && len(to) >= n; to = to[n:] {
			w.step(command, to[:n])
			if command == 'M' {
				begun = w.at
			}
		}
	}
	return string(w.text)
}

// unitsIn are the numbers of a text, in which a minus divides as a space does.
func unitsIn(text string) (all []int) {
	for i, j := 0, 0; i < len(text); i = j {
		for j = i + 1; j < len(text) && (text[j] > ' ' && text[j] != '-' || text[j-1] == 'e'); j++ {
		}
		if x, err := strconv.ParseFloat(strings.TrimSpace(text[i:j]), 64); err == nil {
			all = append(all, units(max(-1e6, min(x, 1e6))))
		}
	}
	return all
}

// denseWriter writes a path. A command that is the same as the one before needs no letter.
type denseWriter struct {
	text    []byte
	command byte
	at      [2]int
}

// step adds a command with the places it names, or how far they lie from the pen if it is a small one.
func (w *denseWriter) step(command byte, to []int) {
	moves := make([]int, len(to))
	for i, x := range to {
		if moves[i] = x; command < 'a' {
			moves[i] -= w.at[i%2]
		}
	}
	first := len(w.text) == 0
	switch lower := command | 0x20; {
	case lower == 'm' && first: // a path begins at a place
		w.put('M', moves...)
	case lower == 'l' && moves[1] == 0:
		w.put('h', moves[0])
	case lower == 'l' && moves[0] == 0:
		w.put('v', moves[1])
	default:
		w.put(lower, moves...)
	}
	w.at[0] += moves[len(moves)-2]
	w.at[1] += moves[len(moves)-1]
}

func (w *denseWriter) put(command byte, numbers ...int) {
	follows := command == w.command && command != 'm'
	if !follows {
		w.text, w.command = append(w.text, command), command
	}
	for _, x := range numbers {
		if follows && x >= 0 {
			w.text = append(w.text, ' ')
		}
		w.text, follows = strconv.AppendInt(w.text, int64(x), 10), true
	}
}

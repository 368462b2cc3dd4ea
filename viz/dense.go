package viz

import (
	"regexp"
	"strconv"
)

var (
	commands = regexp.MustCompile(`([MLCQlcqZ])([^MLCQlcqZ]*)`)
	numbers  = regexp.MustCompile(`-?[0-9.]+(?:e-?[0-9]+)?`)
	// arguments is how many numbers a command takes.
	arguments = map[byte]int{'M': 2, 'L': 2, 'l': 2, 'C': 6, 'c': 6, 'Q': 4, 'q': 4}
)

// dense writes a path of a drawing in whole units, each step in the fewest characters: as it goes on from the last where that is
// shorter, along one axis where it does not leave it.
func dense(path string) string {
	w, begun := denseWriter{}, [2]int{}
	for _, m := range commands.FindAllStringSubmatch(path, -1) {
		command := m[1][0]
		if command == 'Z' {
			w.text, w.command, w.at = append(w.text, 'Z'), 'Z', begun
			continue
		}
		var to []int
		for _, number := range numbers.FindAllString(m[2], -1) {
			x, _ := strconv.ParseFloat(number, 64) // 0 where it is none
			to = append(to, units(max(-1e6, min(x, 1e6))))
		}
		for n := arguments[command]; len(to) >= n; to = to[n:] {
			w.step(command, to[:n])
			if command == 'M' {
				begun = w.at
			}
		}
	}
	return string(w.text)
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

package report

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// maxColumn bounds how far to the right a cursor goes by itself.
const maxColumn = 500

// terminal is what a small terminal shows: it knows colours, carriage returns, erasing, and moves of the cursor.
type terminal struct {
	rows     [][]glyph
	row, col int
	room     int // for spaces that nobody wrote
	style    uint16
	styles   []style
	numbers  map[style]uint16
}

type glyph struct {
	char  rune
	style uint16 // its number
}

// control finds commands: those that begin with ESC [, titles and links, and others of two characters.
var control = regexp.MustCompile(`\x1b\[[0-9:;<=>?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]`)

// terminalHTML is what a terminal would show in the end of all that was written, with its colours.
func terminalHTML(text string) string {
	if !strings.ContainsAny(text, "\x1b\r\b") {
		return html.EscapeString(strings.Map(printable, text))
	}
	t := run(text)
	var out strings.Builder
	for i, row := range t.rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		t.writeRow(&out, row)
	}
	return out.String()
}

// plain is the same text without colours.
func plain(text string) string {
	if !strings.ContainsAny(text, "\x1b\r\b") {
		return strings.Map(printable, text)
	}
	var lines []string
	for _, row := range run(text).rows {
		chars := make([]rune, len(row))
		for i, g := range row {
			chars[i] = g.char
		}
		lines = append(lines, strings.TrimRight(string(chars), " "))
	}
	return strings.Join(lines, "\n")
}

func printable(c rune) rune {
	if unicode.IsControl(c) && c != '\n' && c != '\t' {
		return -1
	}
	return c
}

func run(text string) *terminal {
	t := &terminal{rows: [][]glyph{nil}, room: maxColumn + len(text), styles: []style{{}}, numbers: map[style]uint16{{}: 0}}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for text != "" {
		at := control.FindStringIndex(text)
		if at == nil {
			t.write(text)
			break
		}
		t.write(text[:at[0]])
		if command := text[at[0]:at[1]]; strings.HasPrefix(command, "\x1b[") {
			t.command(command[2:len(command)-1], command[len(command)-1])
		}
		text = text[at[1]:]
	}
	return t
}

func (t *terminal) write(text string) {
	for _, c := range text {
		switch c {
		case '\n':
			t.row, t.col = t.row+1, 0
			if t.row == len(t.rows) {
				t.rows = append(t.rows, nil)
			}
		case '\r':
			t.col = 0
		case '\b':
			t.col = max(0, t.col-1)
		default:
			if printable(c) >= 0 {
				t.put(c)
			}
		}
	}
}

func (t *terminal) put(c rune) {
	row := t.rows[t.row]
	for len(row) < t.col && t.room > 0 {
		row = append(row, glyph{char: ' '})
		t.room--
	}
	if t.col = min(t.col, len(row)); t.col == len(row) {
		row = append(row, glyph{})
	}
	row[t.col] = glyph{c, t.style}
	t.rows[t.row] = row
	t.col++
}

// command obeys one that ends with a letter; those that move and erase are ECMA-48's.
func (t *terminal) command(args string, letter byte) {
	if letter == 'm' {
		t.setStyle(args)
		return
	}
	first, second, _ := strings.Cut(args, ";")
	n, m := argument(first), argument(second)
	switch letter {
	case 'A', 'F':
		t.row = max(0, t.row-max(1, n))
	case 'B', 'E':
		t.row = min(len(t.rows)-1, t.row+max(1, n))
	case 'C':
		t.col = max(t.col, min(maxColumn, t.col+max(1, n)))
	case 'D':
		t.col = max(0, t.col-max(1, n))
	case 'G':
		t.col = min(maxColumn, max(1, n)) - 1
	case 'H', 'f':
		t.row, t.col = min(len(t.rows), max(1, n))-1, min(maxColumn, max(1, m))-1
	case 'J':
		t.erase(n)
	case 'K':
		t.eraseLine(n)
	}
	if letter == 'E' || letter == 'F' {
		t.col = 0
	}
}

// argument reads a number; what is none is 0.
func argument(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return min(max(n, 0), 1<<20)
}

// erase clears what is after the cursor, before it, or all.
func (t *terminal) erase(what int) {
	switch what {
	case 0, 1:
		t.eraseLine(what)
		if what == 1 {
			clear(t.rows[:t.row])
		} else {
			t.rows = t.rows[:t.row+1]
		}
	default:
		t.rows, t.row, t.col = [][]glyph{nil}, 0, 0
	}
}

// eraseLine clears the row after the cursor, before it, or all.
func (t *terminal) eraseLine(what int) {
	row := t.rows[t.row]
	at := min(t.col, len(row))
	switch what {
	case 0:
		t.rows[t.row] = row[:at]
	case 1:
		for i := range row[:at] {
			row[i] = glyph{char: ' '}
		}
	default:
		t.rows[t.row] = nil
	}
}

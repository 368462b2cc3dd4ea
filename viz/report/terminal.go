package report

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	terminal "github.com/buildkite/terminal-to-html/v3"
)

// Bounds of the terminal that outputs are written to. Lines that are wider go on, and those above
// its screen leave it.
const (
	terminalWidth = 240
	terminalLines = 200
)

// terminal shows what was written to a stream. A reader sees the first lines if there are many.
func (r *notebookRenderer) terminal(stream lines, text string) string {
	const most, begin = 60, 30
	class := "stdout"
	if stream == "stderr" {
		class = "stderr"
	}
	pre := func(lines []string) string { return `<pre class="` + class + `">` + strings.Join(lines, "") + "</pre>" }
	lines := strings.SplitAfter(r.terminalHTML(text), "\n")
	if len(lines) <= most {
		return pre(lines)
	}
	return pre(lines[:begin]) + fmt.Sprintf(`<details class="more"><summary>%d more lines</summary>%s</details>`,
		len(lines)-begin, pre(lines[begin:]))
}

// terminalHTML is what a terminal shows in the end of all that was written, with its colours and
// links.
func (r *notebookRenderer) terminalHTML(text string) string {
	screen := spans.ReplaceAllStringFunc(terminalScreen(text), func(tag string) string {
		return manyColours.ReplaceAllStringFunc(tag, ofEight)
	})
	shown := r.sanitise("<code>"+screen+"</code>", text) // in code no dollar begins a formula
	return strings.TrimSuffix(strings.TrimPrefix(shown, "<code>"), "</code>")
}

func terminalScreen(text string) string {
	if !strings.ContainsAny(text, "\x1b\r\b") {
		return html.EscapeString(strings.Map(printable, text))
	}
	s, err := terminal.NewScreen(terminal.WithSize(terminalWidth, terminalLines),
		terminal.WithMaxSize(terminalWidth, 2*terminalLines))
	if err != nil {
		panic(err)
	}
	var out strings.Builder
	s.Timestamps = false
	s.ScrollOutFunc = func(line string) { out.WriteString(line) }
	s.Write([]byte(text))
	out.WriteString(s.AsHTMLWithTimestamps(false))
	return strings.ReplaceAll(out.String(), "&nbsp;\n", "\n")
}

func printable(c rune) rune {
	if unicode.IsControl(c) && c != '\n' && c != '\t' {
		return -1
	}
	return c
}

var (
	spans       = regexp.MustCompile(`<span class="[^"]*"`)
	manyColours = regexp.MustCompile(`(term-[fb]g)x(\d+)`)
)

// ofEight replaces the class of one of 256 colours by that of the nearest of eight, which are
// legible on light and dark. The 256 are the eight and brighter ones, a cube of 6 × 6 × 6, and
// greys.
func ofEight(class string) string {
	m := manyColours.FindStringSubmatch(class)
	n, _ := strconv.Atoi(m[2])
	bit := func(level int) int { return min(1, level/2) }
	switch {
	case n < 16:
		n %= 8
	case n < 232:
		n -= 16
		n = bit(n/36) + 2*bit(n/6%6) + 4*bit(n%6) // red, green and blue
	default:
		n = (n - 232) / 12 * 7
	}
	return fmt.Sprint(m[1], map[string]int{"term-fg": 30, "term-bg": 40}[m[1]]+n)
}

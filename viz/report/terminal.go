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

// Bounds of the terminal that outputs are written to. Lines that are wider go on, and those above its screen leave it.
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
	shown := r.terminalHTML(text)
	lines := strings.SplitAfter(shown, "\n")
	if len(lines) <= most {
		return `<pre class="` + class + `">` + shown + "</pre>"
	}
	return `<pre class="` + class + `">` + strings.Join(lines[:begin], "") + "</pre>" +
		fmt.Sprintf(`<details class="more"><summary>%d more lines</summary><pre class="%s">%s</pre></details>`, len(lines)-begin, class, strings.Join(lines[begin:], ""))
}

// terminalHTML is what a terminal shows in the end of all that was written, with its colours and links.
func (r *notebookRenderer) terminalHTML(text string) string {
	shown := r.sanitise("<code>" + terminalScreen(text) + "</code>") // in code no dollar begins a formula
	shown = strings.TrimSuffix(strings.TrimPrefix(shown, "<code>"), "</code>")
	return ofMany.ReplaceAllStringFunc(shown, inlineColours)
}

// plain is the same text without colours.
func plain(text string) string {
	return html.UnescapeString(tags.ReplaceAllString(terminalScreen(text), ""))
}

func terminalScreen(text string) string {
	if !strings.ContainsAny(text, "\x1b\r\b") {
		return html.EscapeString(strings.Map(printable, text))
	}
	s, err := terminal.NewScreen(terminal.WithSize(terminalWidth, terminalLines), terminal.WithMaxSize(terminalWidth, 2*terminalLines))
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
	// ofMany finds elements with a colour of 256, for which the style sheet has no class.
	ofMany     = regexp.MustCompile(`<span class="[a-z0-9 -]*term-[fb]gx[a-z0-9 -]*"`)
	manyColour = regexp.MustCompile(`term-([fb])gx(\d+)`)
)

// inlineColours adds such colours as styles.
func inlineColours(tag string) string {
	style := ""
	for _, m := range manyColour.FindAllStringSubmatch(tag, -1) {
		property := map[string]string{"f": "color", "b": "background-color"}[m[1]]
		n, _ := strconv.Atoi(m[2])
		style += property + ":" + of256(n) + ";"
	}
	return tag + ` style="` + style + `"`
}

// of256 is one of 256 colours: of the sixteen, of a cube of 6 × 6 × 6, or a grey.
func of256(n int) string {
	switch {
	case n < 16:
		return fmt.Sprintf("var(--c%d)", n%8)
	case n >= 232:
		n = 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", n, n, n)
	}
	n -= 16
	level := [...]int{0, 95, 135, 175, 215, 255}
	return fmt.Sprintf("#%02x%02x%02x", level[n/36%6], level[n/6%6], level[n%6])
}

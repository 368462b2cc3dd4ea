package report

import (
	"fmt"
	"html"
	"strings"
)

// style is how a terminal shows a character. A colour is "" for the terminal's own, a digit or two for one of its sixteen, of
// which the style sheet has a light and a dark version, or one of CSS.
type style struct {
	fore, back string
	on         [8]bool // by code: 1 bold, 2 faint, 3 italic, 4 underlined, 7 reversed
}

// setStyle obeys the command that sets colours and the like.
func (t *terminal) setStyle(args string) {
	s := t.styles[t.style]
	codes := strings.FieldsFunc(args, func(c rune) bool { return c == ';' || c == ':' })
	if len(codes) == 0 {
		codes = []string{"0"}
	}
	for len(codes) > 0 {
		code := argument(codes[0])
		codes = codes[1:]
		switch {
		case code == 38 || code == 48:
			var colour string
			if colour, codes = manyColours(codes); code == 38 {
				s.fore = colour
			} else {
				s.back = colour
			}
		case code >= 30 && code <= 39:
			s.fore = ofSixteen(code-30, 0)
		case code >= 40 && code <= 49:
			s.back = ofSixteen(code-40, 0)
		case code >= 90 && code <= 97:
			s.fore = ofSixteen(code-90, 8)
		case code >= 100 && code <= 107:
			s.back = ofSixteen(code-100, 8)
		case code == 0:
			s = style{}
		case code == 22:
			s.on[1], s.on[2] = false, false
		case code < len(s.on):
			s.on[code] = true
		case code > 22 && code < 20+len(s.on):
			s.on[code-20] = false
		}
	}
	n, known := t.numbers[s]
	if !known && len(t.styles) < 1<<16 {
		n = uint16(len(t.styles))
		t.styles = append(t.styles, s)
		t.numbers[s] = n
	}
	t.style = n
}

// ofSixteen is a colour of the sixteen; 9, and 8, are the terminal's own.
func ofSixteen(n, bright int) string {
	if n > 7 {
		return ""
	}
	return fmt.Sprint(n + bright)
}

// manyColours reads a colour of 256, or one of all, from the codes that follow, and returns the codes after it.
func manyColours(codes []string) (string, []string) {
	switch {
	case len(codes) >= 2 && codes[0] == "5":
		return of256(min(255, argument(codes[1]))), codes[2:]
	case len(codes) >= 4 && codes[0] == "2":
		return fmt.Sprintf("#%02x%02x%02x", argument(codes[1])&255, argument(codes[2])&255, argument(codes[3])&255), codes[4:]
	}
	return "", nil
}

// of256 is a colour of the sixteen, of a cube of 6 × 6 × 6, or a grey.
func of256(n int) string {
	switch {
	case n < 16:
		return fmt.Sprint(n)
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}

// writeRow writes a row, whose neighbours of one style share an element.
func (t *terminal) writeRow(out *strings.Builder, row []glyph) {
	for len(row) > 0 && row[len(row)-1] == (glyph{char: ' '}) {
		row = row[:len(row)-1]
	}
	for len(row) > 0 {
		n := 0
		var text strings.Builder
		for n < len(row) && row[n].style == row[0].style {
			text.WriteRune(row[n].char)
			n++
		}
		t.styles[row[0].style].write(out, html.EscapeString(text.String()))
		row = row[n:]
	}
}

// write writes a text in the style.
func (s style) write(out *strings.Builder, text string) {
	var classes, css []string
	set := func(colour, class, property string) {
		if strings.HasPrefix(colour, "#") {
			css = append(css, property+":"+colour)
		} else if colour != "" {
			classes = append(classes, class+colour)
		}
	}
	if s.on[7] && s.fore+s.back != "" {
		s.fore, s.back, s.on[7] = s.back, s.fore, false
	}
	set(s.fore, "fg", "color")
	set(s.back, "bg", "background")
	for code, on := range s.on {
		if on {
			classes = append(classes, fmt.Sprintf("t%d", code))
		}
	}
	if len(classes)+len(css) == 0 {
		out.WriteString(text)
		return
	}
	out.WriteString("<span")
	if len(classes) > 0 {
		out.WriteString(` class="` + strings.Join(classes, " ") + `"`)
	}
	if len(css) > 0 {
		out.WriteString(` style="` + strings.Join(css, ";") + `"`)
	}
	out.WriteString(">" + text + "</span>")
}

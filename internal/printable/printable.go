// Package printable makes text from untrusted sources (servers, archives, other programs, files
// that anybody may have written) safe to print on a terminal. Escape sequences in such a text could
// change the colours of what is on the screen, hide it, or even type on the user's behalf. They are
// replaced by visible characters.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line. Line breaks become spaces. Control characters, and characters that
// change the direction of writing, are spelt out as in \x1b or \u202e.
func Line(s string) string { return Text(strings.Join(strings.Fields(s), " ")) }

// Text is like [Line], but keeps line breaks and tabs.
func Text(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if isHidden(r) || r == utf8.RuneError && size == 1 {
			b.WriteString(strings.Trim(strconv.QuoteToASCII(s[:size]), `"`))
		} else {
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

// isHidden reports whether a character is not shown but acts on the terminal or on other
// characters. These are control and format characters, except the joiner and the non-joiner, which
// are harmless and needed by some scripts and emoji.
func isHidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Error returns err with a message that is safe to print, or nil if err is nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return printableError{err}
}

type printableError struct{ error }

func (e printableError) Error() string { return Text(e.error.Error()) }
func (e printableError) Unwrap() error { return e.error }

// Cut returns the first bytes of a text that has more than so many, up to the end of a character,
// with an ellipsis.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

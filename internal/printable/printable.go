// Package printable makes text from untrusted sources (servers, archives, other programs, files that anybody may have
// written) safe to print on a terminal. Escape sequences in such a text could change the colours of what is on the
// screen, hide it, or even type on the user's behalf. They are replaced by visible characters.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line. Line breaks become spaces. Control characters, and characters that change the direction
// of writing, are spelt out as in \x1b or \u202e.
func Line(s string) string { return escape(strings.Join(strings.Fields(s), " ")) }

// Text is like [Line], but keeps line breaks and tabs.
func Text(s string) string { return escape(s) }

func escape(s string) string {
	if strings.IndexFunc(s, isHidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch _, size := utf8.DecodeRuneInString(s[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !isHidden(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// isHidden reports whether a character is not shown but acts on the terminal or on other characters. These are control
// and format characters, except the joiner and the non-joiner, which are harmless and needed by some scripts and emoji.
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

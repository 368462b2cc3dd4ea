// Package printable makes the text of strangers (servers, archives, other programs, files that
// anybody may have written) fit for a terminal. Escape sequences in it could recolour what is on the
// screen, hide it or type on the user's behalf; they come out as what they are written with.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is s as one line: control characters, and those that reverse the direction of writing, are
// written as \x1b or \u202e, line breaks as spaces.
func Line(s string) string { return escape(strings.Join(strings.Fields(s), " ")) }

// Text is s with its lines and tabs, and otherwise as [Line] has it.
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

// isHidden says of a character that it acts on the terminal, or on what is shown, instead of being
// shown: control and format characters. The joiner and the non-joiner, which some scripts and emoji
// are spelt with, are no harm.
func isHidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Error is err, if it is one, with a printable message.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return printableError{err}
}

type printableError struct{ error }

func (e printableError) Error() string { return Text(e.error.Error()) }
func (e printableError) Unwrap() error { return e.error }

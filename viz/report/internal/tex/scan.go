package tex

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is a command with its backslash, a number, or a single character; "" is the end.
// Outside of text, spaces only end commands.

// next returns the token that take takes.
func (p *parser) next() string {
	p.skip()
	return scan(p.src[p.pos:])
}

func (p *parser) take() string {
	t := p.next()
	p.pos += len(t)
	return t
}

func (p *parser) skip() {
	p.pos += len(p.src[p.pos:]) - len(strings.TrimLeftFunc(p.src[p.pos:], unicode.IsSpace))
}

func scan(s string) string {
	if s == "" {
		return ""
	}
	switch c := s[0]; {
	case c == '\\':
		n := 1
		for n < len(s) && letter(s[n]) {
			n++
		}
		if n == 1 && len(s) > 1 { // \, and the like
			_, size := utf8.DecodeRuneInString(s[1:])
			n += size
		}
		return s[:n]
	case digit(c):
		n := 1
		for n < len(s) && (digit(s[n]) || s[n] == '.' && n+1 < len(s) && digit(s[n+1])) {
			n++
		}
		return s[:n]
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// raw takes the text of a group as it stands: \text{so}.
func (p *parser) raw() (string, error) {
	if t := p.take(); t != "{" {
		return "", fmt.Errorf("a { is missing before %q", short(t))
	}
	begin, open := p.pos, 1
	for ; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case '\\':
			p.pos++
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				p.pos++
				return p.src[begin : p.pos-1], nil
			}
		}
	}
	p.pos = len(p.src)
	return "", errors.New("a } is missing")
}

// option takes what stands in [brackets] if there is any.
func (p *parser) option() (string, bool) {
	if p.next() != "[" {
		return "", false
	}
	if p.lost {
		return "", false
	}
	text, rest, ok := strings.Cut(p.src[p.pos+1:], "]")
	if !ok {
		p.lost = true
		return "", false
	}
	p.pos = len(p.src) - len(rest)
	return text, true
}

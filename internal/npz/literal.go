package npz

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A tuple is a Python tuple, and a list a Python list. Other literals are a string, bool, int or
// map[string]any.
type (
	tuple []any
	list  []any
)

// A literal is the text of a Python literal that is still to be read: NumPy writes headers with
// repr, and reads them with ast.literal_eval.
type literal struct {
	text  string
	depth int
}

const maxDepth = 20 // of brackets in each other

// parseLiteral reads a Python literal of the kinds that headers have.
func parseLiteral(text string) (any, error) {
	p := &literal{text: text}
	v, err := p.value()
	if err == nil && p.next() != 0 {
		err = fmt.Errorf("%.20q follows its end", p.text)
	}
	return v, err
}

// next returns the next character that is not space, or 0 at the end.
func (p *literal) next() byte {
	p.text = strings.TrimLeft(p.text, " \t\r\n\f")
	if p.text == "" {
		return 0
	}
	return p.text[0]
}

// take reports whether a character comes next, and skips it then.
func (p *literal) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.text = p.text[1:]
	return true
}

func (p *literal) value() (any, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errors.New("its brackets are too deep")
	}
	defer func() { p.depth-- }()
	switch c := p.next(); {
	case p.take('{'):
		return p.dict()
	case p.take('['):
		items, _, err := p.items(']')
		return list(items), err
	case p.take('('):
		items, comma, err := p.items(')')
		if len(items) == 1 && !comma { // brackets around a value
			return items[0], err
		}
		return tuple(items), err
	case c == '\'' || c == '"':
		return p.quoted()
	case c >= '0' && c <= '9' || c == '-':
		return p.number()
	}
	return p.word()
}

// items reads values with commas between them, up to a closing bracket.
func (p *literal) items(end byte) (items []any, comma bool, err error) {
	for !p.take(end) {
		if len(items) > 0 && !comma {
			return nil, false, fmt.Errorf("want a comma or %q before %.20q", end, p.text)
		}
		v, err := p.value()
		if err != nil {
			return nil, false, err
		}
		items, comma = append(items, v), p.take(',')
	}
	return items, comma, nil
}

// dict reads a dictionary whose keys are texts. Of two values of one key the last counts, as in
// Python.
func (p *literal) dict() (any, error) {
	d := map[string]any{}
	for comma := true; !p.take('}'); comma = p.take(',') {
		if !comma {
			return nil, fmt.Errorf("want a comma or '}' before %.20q", p.text)
		}
		k, err := p.value()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok || !p.take(':') {
			return nil, fmt.Errorf("want a text and a colon before %.20q", p.text)
		}
		if d[key], err = p.value(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (p *literal) quoted() (any, error) {
	quote, rest := p.text[0], p.text[1:]
	var s strings.Builder
	for rest != "" && rest[0] != quote {
		c, wide, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil {
			return nil, fmt.Errorf("a text that is not understood: %.20q", rest)
		}
		if rest = tail; wide {
			s.WriteRune(c)
		} else {
			s.WriteByte(byte(c))
		}
	}
	if rest == "" {
		return nil, errors.New("a text without an end")
	}
	p.text = rest[1:]
	return s.String(), nil
}

// wholeNumber is one of Python, to which Python 2 adds an L. Python has no octal numbers with a leading 0.
var wholeNumber = regexp.MustCompile(`^-?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[1-9][0-9_]*|0+)[Ll]?`)

func (p *literal) number() (any, error) {
	word := wholeNumber.FindString(p.text)
	p.text = p.text[len(word):]
	n, err := strconv.ParseInt(strings.TrimRight(word, "Ll"), 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%.20q is not a whole number", word+p.text)
	}
	return int(n), nil
}

// word reads True, False, or a text of Python 2's unicode.
func (p *literal) word() (any, error) {
	if c := p.next(); c == 'u' || c == 'U' {
		if rest := p.text[1:]; rest != "" && (rest[0] == '\'' || rest[0] == '"') {
			p.text = rest
			return p.quoted()
		}
	}
	for word, v := range map[string]bool{"True": true, "False": false} {
		if rest, ok := strings.CutPrefix(p.text, word); ok {
			p.text = rest
			return v, nil
		}
	}
	return nil, fmt.Errorf("%.20q is not understood", p.text)
}

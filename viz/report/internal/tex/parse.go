package tex

import (
	"errors"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser reads a formula from the left, one construct a method.
type parser struct {
	src     string
	pos     int
	depth   int
	display bool   // large sums, with their limits above and below
	font    string // the alphabet of letters, as \mathbf sets it; "" is italic
	lost    bool   // there is no ] any more
}

// maxDepth bounds how deeply a formula may nest.
const maxDepth = 100

// deeper counts a level, until the function that it returns is called.
func (p *parser) deeper() (func(), error) {
	p.depth++
	if p.depth > maxDepth {
		return func() { p.depth-- }, errors.New("it nests too deeply")
	}
	return func() { p.depth-- }, nil
}

// node is one element, and how it behaves between others.
type node struct {
	xml    string
	limits bool // scripts go above and below in display style
	named  bool // a function such as log, set off from what stands beside it
	space  bool // or an operator: nothing to set off from
}

// row reads up to what ends a row, which it leaves.
func (p *parser) row() (string, error) {
	leave, err := p.deeper()
	defer leave()
	if err != nil {
		return "", err
	}
	defer func(font string, display bool) { p.font, p.display = font, display }(p.font, p.display)
	var b strings.Builder
	closer := ""
	last := node{space: true}
	for {
		t := p.next()
		if t == "" || t == "}" || t == "&" || t == `\\` || t == `\end` || t == `\right` {
			return b.String() + closer, nil
		}
		switch t {
		case `\displaystyle`, `\textstyle`:
			p.take()
			p.display = t == `\displaystyle`
			fmt.Fprintf(&b, `%s<mstyle displaystyle="%t">`, closer, p.display)
			closer = "</mstyle>"
			continue
		}
		n, err := p.scripted()
		if err != nil {
			return "", err
		}
		if n.named && !last.space || last.named && !n.space {
			b.WriteString(thinSpace)
		}
		b.WriteString(n.xml)
		last = n
	}
}

const thinSpace = `<mspace width="0.167em"/>`

// group reads {a group}.
func (p *parser) group() (string, error) {
	p.take()
	body, err := p.row()
	if err != nil {
		return "", err
	}
	if t := p.take(); t != "}" {
		return "", missing("a }", t)
	}
	return "<mrow>" + body + "</mrow>", nil
}

func missing(what, at string) error {
	if at == "" {
		return fmt.Errorf("%s is missing at the end", what)
	}
	return fmt.Errorf("%s is missing before %q", what, short(at))
}

// argument reads what a command takes: a group, or a single token. It is in text style.
func (p *parser) argument() (string, error) {
	leave, err := p.deeper()
	defer leave()
	if err != nil {
		return "", err
	}
	defer func(display bool) { p.display = display }(p.display)
	p.display = false
	switch t := p.next(); {
	case t == "{":
		return p.group()
	case t != "" && digit(t[0]): // \frac12
		p.pos++
		return "<mn>" + t[:1] + "</mn>", nil
	}
	n, err := p.atom()
	return n.xml, err
}

func (p *parser) arguments() (first, second string, err error) {
	if first, err = p.argument(); err == nil {
		second, err = p.argument()
	}
	return first, second, err
}

// scripted reads an atom and its sub- and superscripts.
func (p *parser) scripted() (node, error) {
	base := node{xml: "<mrow></mrow>"}
	if t := p.next(); t != "^" && t != "_" && t != "'" {
		var err error
		if base, err = p.atom(); err != nil {
			return base, err
		}
	}
	above := base.limits && p.display
	var sub string
	var sup strings.Builder
	raised := false
	for {
		switch t := p.next(); t {
		case `\limits`, `\nolimits`:
			p.take()
			above = t == `\limits`
			continue
		case "'":
			sup.WriteString(p.primes())
			continue
		case "^", "_":
			p.take()
			script, err := p.argument()
			if err != nil {
				return base, err
			}
			if t == "_" {
				if sub != "" {
					return base, errors.New("two subscripts")
				}
				sub = script
			} else {
				if raised {
					return base, errors.New("two superscripts")
				}
				raised = true
				sup.WriteString(script)
			}
			continue
		}
		base.xml = attach(base.xml, sub, sup.String(), above)
		return base, nil
	}
}

func (p *parser) primes() string {
	n := 0
	for p.next() == "'" {
		p.take()
		n++
	}
	return "<mo>" + strings.Repeat("′", n) + "</mo>"
}

func attach(base, sub, sup string, above bool) string {
	names := [3]string{"msub", "msup", "msubsup"}
	if above {
		names = [3]string{"munder", "mover", "munderover"}
		base = strings.Replace(base, `<mo>`, `<mo movablelimits="false">`, 1)
	}
	if sup != "" {
		sup = "<mrow>" + sup + "</mrow>"
	}
	switch {
	case sub != "" && sup != "":
		return element(names[2], base, sub, sup)
	case sub != "":
		return element(names[0], base, sub)
	case sup != "":
		return element(names[1], base, sup)
	}
	return base
}

func element(name string, children ...string) string {
	return "<" + name + ">" + strings.Join(children, "") + "</" + name + ">"
}

// atom reads one thing without its scripts.
func (p *parser) atom() (node, error) {
	switch t := p.next(); {
	case t == "" || t == "}" || t == "&" || t == "^" || t == "_":
		return node{}, missing("an argument", t)
	case t == "{":
		xml, err := p.group()
		return node{xml: xml}, err
	case t[0] == '\\':
		p.take()
		return p.command(t)
	case digit(t[0]):
		p.take()
		return node{xml: "<mn>" + p.inFont(t) + "</mn>"}, nil
	case t == ":" && strings.HasPrefix(p.src[p.pos:], ":="):
		p.pos += 2
		return node{xml: "<mo>≔</mo>", space: true}, nil
	case t == "~":
		p.take()
		return node{xml: space("0.333em"), space: true}, nil
	case t == "#" || t == "$" || t == "%":
		return node{}, fmt.Errorf(`a bare %s means something else in TeX: write \%s`, t, t)
	default:
		p.take()
		return p.character(t), nil
	}
}

// character is a letter, an operator or a fence.
func (p *parser) character(t string) node {
	r, _ := utf8.DecodeRuneInString(t)
	switch {
	case unicode.IsLetter(r) || strings.ContainsRune("∂∇∞∅", r):
		return p.letter(t)
	case strings.ContainsRune("()[]", r):
		return node{xml: `<mo stretchy="false">` + t + "</mo>", space: true}
	case strings.ContainsRune("|‖/", r):
		return node{xml: tight(t), space: true}
	case r == '-':
		t = "−"
	case r == '*':
		t = "∗"
	}
	return node{xml: "<mo>" + html.EscapeString(t) + "</mo>", space: true, limits: largeOperator(t)}
}

// tight is a fence of one size whose sides cannot be told: |x|, ‖d‖.
func tight(t string) string {
	return `<mo stretchy="false" lspace="0" rspace="0">` + html.EscapeString(t) + "</mo>"
}

func (p *parser) letter(t string) node {
	in := html.EscapeString(p.inFont(t))
	upright := p.font == "rm" || p.font == "" && unicode.IsUpper([]rune(t)[0]) && t[0] >= utf8.RuneSelf // as Γ is
	if in == t && upright {
		return node{xml: `<mi mathvariant="normal">` + t + "</mi>"}
	}
	return node{xml: "<mi>" + in + "</mi>"}
}

func space(width string) string { return `<mspace width="` + width + `"/>` }

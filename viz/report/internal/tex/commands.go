package tex

import (
	"errors"
	"fmt"
	"html"
	"strings"
)

// command reads what belongs to a command that has been taken.
func (p *parser) command(t string) (node, error) {
	name := t[1:]
	if xml, ok := symbols[name]; ok {
		return p.symbol(xml), nil
	}
	if width, ok := spaces[name]; ok {
		return node{xml: space(width), space: true}, nil
	}
	if accent, ok := accents[name]; ok {
		return p.accented(accent)
	}
	if font, ok := fonts[name]; ok {
		return p.inAlphabet(font)
	}
	if size, ok := sizes[strings.TrimRight(name, "lrm")]; ok {
		return p.sized(size)
	}
	switch name {
	case "":
		return node{}, errors.New(`a lone \`)
	case "text", "textrm", "textnormal", "textbf", "textit", "mbox":
		text, err := p.raw()
		return node{xml: inText(name, text)}, err
	case "operatorname":
		return p.operatorName()
	case "frac", "dfrac", "tfrac", "binom":
		return p.fraction(name)
	case "sqrt":
		return p.root()
	case "left":
		return p.fenced()
	case "middle":
		fence, err := p.fence()
		return node{xml: `<mo stretchy="true" lspace="0.2em" rspace="0.2em">` + fence + "</mo>", space: true}, err
	case "begin":
		return p.environment()
	case "substack":
		return p.substack()
	case "overset", "stackrel":
		above, base, err := p.arguments()
		return node{xml: element("mover", base, above), space: true}, err
	case "underset":
		below, base, err := p.arguments()
		return node{xml: element("munder", base, below), space: true}, err
	case "not":
		return p.negated()
	case "tag":
		text, err := p.raw()
		return node{xml: element("mrow", space("2em"), "<mtext>("+html.EscapeString(text)+")</mtext>")}, err
	case "label":
		_, err := p.raw()
		return nothing, err
	case "nonumber", "notag", "hline":
		return nothing, nil
	}
	return node{}, fmt.Errorf("unknown command %s", short(t))
}

// nothing is an element all the same: a script needs one.
var nothing = node{xml: "<mrow></mrow>", space: true}

// symbol is a letter, an operator, a fence or a function.
func (p *parser) symbol(s symbol) node {
	switch s.kind {
	case 'l':
		return p.letter(s.text)
	case 'f':
		return node{xml: "<mi>" + s.text + "</mi>", named: true}
	case 'F':
		return node{xml: "<mi>" + s.text + "</mi>", named: true, limits: true}
	case '(':
		return node{xml: `<mo stretchy="false" form="` + s.form + `">` + s.text + "</mo>", space: true}
	case '|':
		return node{xml: tight(s.text), space: true}
	}
	return node{xml: "<mo>" + html.EscapeString(s.text) + "</mo>", space: true, limits: largeOperator(s.text)}
}

func inText(name, text string) string {
	text = strings.NewReplacer(`\,`, "\u2009", `\ `, " ", `\_`, "_", `\%`, "%", `\&`, "&", `\#`, "#", `\$`, "$", "~", " ").Replace(text)
	text = strings.ReplaceAll(html.EscapeString(text), " ", "\u00a0") // or the ends' spaces are lost
	switch name {
	case "textbf":
		return `<mtext style="font-weight:bold">` + text + "</mtext>"
	case "textit":
		return `<mtext style="font-style:italic">` + text + "</mtext>"
	}
	return "<mtext>" + text + "</mtext>"
}

// operatorName reads \operatorname{softmax} or, with limits, \operatorname*{arg\,min}.
func (p *parser) operatorName() (node, error) {
	limits := p.next() == "*"
	if limits {
		p.take()
	}
	text, err := p.raw()
	text = strings.NewReplacer(`\,`, "\u2009", `\ `, " ", `\;`, " ").Replace(text)
	if strings.ContainsAny(text, `\{}`) {
		return node{}, fmt.Errorf(`\operatorname{%s} is more than a name`, short(text))
	}
	variant := ""
	if len(text) == 1 {
		variant = ` mathvariant="normal"`
	}
	return node{xml: "<mi" + variant + ">" + html.EscapeString(text) + "</mi>", named: true, limits: limits}, err
}

func (p *parser) fraction(name string) (node, error) {
	above, below, err := p.arguments()
	xml := element("mfrac", above, below)
	switch name {
	case "dfrac":
		xml = `<mstyle displaystyle="true">` + xml + "</mstyle>"
	case "tfrac":
		xml = `<mstyle displaystyle="false">` + xml + "</mstyle>"
	case "binom":
		xml = `<mrow><mo>(</mo><mfrac linethickness="0">` + above + below + `</mfrac><mo>)</mo></mrow>`
	}
	return node{xml: xml}, err
}

func (p *parser) root() (node, error) {
	degree, ok := p.option()
	body, err := p.argument()
	if err != nil || !ok {
		return node{xml: element("msqrt", body)}, err
	}
	inner := &parser{src: degree, depth: p.depth}
	index, err := inner.row()
	return node{xml: element("mroot", body, "<mrow>"+index+"</mrow>")}, err
}

func (p *parser) accented(a accent) (node, error) {
	body, err := p.argument()
	name, kind := "mover", "accent"
	if a.below {
		name, kind = "munder", "accentunder"
	}
	xml := fmt.Sprintf(`<%s %s="true">%s<mo stretchy="%t">%s</mo></%[1]s>`, name, kind, body, a.stretchy, a.text)
	return node{xml: xml, limits: a.limits}, err
}

// inAlphabet reads \mathbf{x} and the like.
func (p *parser) inAlphabet(font string) (node, error) {
	if p.next() == "{" && font == "rm" {
		at := p.pos
		if text, err := p.raw(); err == nil && !strings.ContainsAny(text, `\{}^_$&`) && len([]rune(text)) > 1 {
			return node{xml: "<mi>" + html.EscapeString(text) + "</mi>"}, nil
		}
		p.pos = at
	}
	defer func(font string) { p.font = font }(p.font)
	p.font = font
	xml, err := p.argument()
	return node{xml: xml}, err
}

// fence reads what \left, \right, \middle and \big stand before.
func (p *parser) fence() (string, error) {
	switch t := p.take(); t {
	case ".":
		return "", nil
	case "(", ")", "[", "]", "|", "/":
		return t, nil
	case "<":
		return "⟨", nil
	case ">":
		return "⟩", nil
	default:
		if s, ok := symbols[strings.TrimPrefix(t, `\`)]; ok && len(t) > 1 && (s.kind == '(' || s.kind == '|') {
			return s.text, nil
		}
		return "", fmt.Errorf("%q is no fence", short(t))
	}
}

func (p *parser) fenced() (node, error) {
	left, err := p.fence()
	if err != nil {
		return node{}, err
	}
	body, err := p.row()
	if err != nil {
		return node{}, err
	}
	if t := p.take(); t != `\right` {
		return node{}, missing(`a \right`, t)
	}
	right, err := p.fence()
	xml := "<mrow>" + grown(left, "prefix") + body + grown(right, "postfix") + "</mrow>"
	return node{xml: xml}, err
}

func grown(fence, form string) string {
	if fence == "" {
		return ""
	}
	return `<mo stretchy="true" fence="true" form="` + form + `">` + fence + "</mo>"
}

func (p *parser) sized(size string) (node, error) {
	fence, err := p.fence()
	xml := fmt.Sprintf(`<mo stretchy="true" symmetric="true" lspace="0" rspace="0" minsize="%s" maxsize="%[1]s">%s</mo>`, size, fence)
	return node{xml: xml, space: true}, err
}

// negated strikes the next operator through.
func (p *parser) negated() (node, error) {
	leave, err := p.deeper()
	defer leave()
	if err != nil {
		return node{}, err
	}
	n, err := p.atom()
	text, ok := strings.CutSuffix(n.xml, "</mo>")
	if err == nil && !ok {
		err = errors.New(`\not stands before what is no operator`)
	}
	n.xml = text + "\u0338</mo>"
	return n, err
}

package tex

import (
	"fmt"
	"strings"
)

// tableStyle is how an environment sets its cells.
type tableStyle struct {
	left, right string
	align       string // of the columns, again and again: l, c or r
	display     bool
	close       bool // no gap within a pair of columns
}

var environments = map[string]tableStyle{
	"matrix": {align: "c"}, "pmatrix": {"(", ")", "c", false, false}, "bmatrix": {"[", "]", "c", false, false},
	"Bmatrix": {"{", "}", "c", false, false}, "vmatrix": {"|", "|", "c", false, false}, "Vmatrix": {"‖", "‖", "c", false, false},
	"cases": {left: "{", align: "l"}, "array": {align: "c"}, "smallmatrix": {align: "c"},
	"aligned": {align: "rl", display: true, close: true}, "align": {align: "rl", display: true, close: true},
	"split": {align: "rl", display: true, close: true}, "gathered": {align: "c", display: true},
	"gather": {align: "c", display: true}, "equation": {align: "c", display: true},
}

func (p *parser) environment() (node, error) {
	name, err := p.raw()
	if err != nil {
		return node{}, err
	}
	style, ok := environments[strings.TrimSuffix(name, "*")]
	if !ok {
		return node{}, fmt.Errorf("unknown environment %q", short(name))
	}
	if name == "array" {
		columns, err := p.raw()
		if err != nil {
			return node{}, err
		}
		style.align = strings.NewReplacer("|", "", " ", "").Replace(columns)
		if style.align == "" || strings.Trim(style.align, "lcr") != "" {
			return node{}, fmt.Errorf("array has the columns %q; want l, c or r for each", short(columns))
		}
	}
	table, err := p.table(style)
	if err != nil {
		return node{}, err
	}
	if t := p.take(); t != `\end` {
		return node{}, missing(`an \end{`+name+"}", t)
	}
	if end, err := p.raw(); err != nil || end != name {
		return node{}, fmt.Errorf(`\begin{%s} ends as \end{%s}`, name, short(end))
	}
	return node{xml: "<mrow>" + grown(style.left, "prefix") + table + grown(style.right, "postfix") + "</mrow>"}, nil
}

// table reads rows of cells.
func (p *parser) table(style tableStyle) (string, error) {
	defer func(display bool) { p.display = display }(p.display)
	p.display = style.display
	var b strings.Builder
	fmt.Fprintf(&b, `<mtable displaystyle="%t"><mtr>`, style.display)
	for column := 0; ; column++ {
		cell, err := p.row()
		if err != nil {
			return "", err
		}
		b.WriteString(`<mtd style="` + style.cell(column) + `">` + cell + "</mtd>")
		switch p.next() {
		case "&":
			p.take()
			continue
		case `\\`:
			p.take()
			p.option() // a distance
			if t := p.next(); t != `\end` && t != "}" {
				b.WriteString("</mtr><mtr>")
				column = -1
				continue
			}
		}
		b.WriteString("</mtr></mtable>")
		return b.String(), nil
	}
}

func (s tableStyle) cell(column int) string {
	at := column % len(s.align)
	style := "text-align:" + map[byte]string{'l': "left", 'c': "center", 'r': "right"}[s.align[at]]
	switch {
	case s.close && at == 0:
		style += ";padding-right:0"
	case s.close:
		style += ";padding-left:0.2em"
	}
	return style
}

// substack reads lines below each other, for the limits of a sum.
func (p *parser) substack() (node, error) {
	if t := p.take(); t != "{" {
		return node{}, missing("a {", t)
	}
	table, err := p.table(tableStyle{align: "c"})
	if err != nil {
		return node{}, err
	}
	if t := p.take(); t != "}" {
		return node{}, missing("a }", t)
	}
	return node{xml: table}, nil
}

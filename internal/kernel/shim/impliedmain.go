//go:build unix

package main

import (
	"bytes"
	"fmt"
	"go/token"
	"os"
	"slices"
	"strings"
)

// impliedMain lets a cell without %% run: where a file has statements outside of functions, and no main, everything from
// the first of them on becomes main. No line moves, and no column but where a declaration ends on the statement's line.
//
// The exit code 0 says that the file parses otherwise now; 1 that what is printed explains why it cannot.
func impliedMain(file string) int {
	src, err := os.ReadFile(file)
	if err != nil || strings.HasSuffix(file, "_test.go") {
		return 2
	}
	out, mistake := withMain(src)
	switch {
	case mistake != nil:
		line := bytes.Count(src[:mistake.offset], []byte("\n")) + 1
		column := mistake.offset - bytes.LastIndexByte(src[:mistake.offset], '\n')
		fmt.Printf("%s:%d:%d: %s\n", file, line, column, mistake.text)
		return 1
	case out == nil:
		return 2
	}
	if err := os.WriteFile(file, out, 0o600); err != nil {
		return 2
	}
	return 0
}

// mistake is something in a text that a reader has to change.
type mistake struct {
	offset int
	text   string
}

// part is a declaration or a statement outside of functions.
type part struct {
	list        []lexeme
	declaration bool
}

// withMain returns a text with main around its statements, or nothing where none are outside of functions.
func withMain(src []byte) ([]byte, *mistake) {
	parts := outermost(scan(src))
	first := slices.IndexFunc(parts, func(p part) bool { return !p.declaration })
	if first < 1 { // the package clause is the first declaration
		return nil, nil
	}
	statement := parts[first].list[0]
	if slices.ContainsFunc(parts, part.isMain) {
		return nil, &mistake{statement.offset, "statements stand after the line %% (or in a function), declarations before it"}
	}
	for _, p := range parts[first:] {
		if p.isFunction() {
			return nil, &mistake{p.list[0].offset, "a cell's functions stand before its first statement: move this one up, or put a line %% between declarations and statements"}
		}
	}
	begin, end := parts[first-1].end(), parts[len(parts)-1].end()
	var b bytes.Buffer
	b.Write(src[:begin])
	b.WriteString("; func main() { flag.Parse()")
	if !bytes.Contains(src[begin:statement.offset], []byte("\n")) {
		b.WriteString(";")
	}
	b.Write(src[begin:end])
	b.WriteString(" }")
	b.Write(src[end:])
	return b.Bytes(), nil
}

// outermost cuts a text where a semicolon, written or implied, stands outside of all brackets.
func outermost(list []lexeme) (parts []part) {
	depth := 0
	var p part
	flush := func() {
		if len(p.list) > 0 {
			p.declaration = p.declares()
			parts = append(parts, p)
		}
		p = part{}
	}
	for _, l := range list {
		switch l.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth <= 0 {
				flush()
				continue
			}
		}
		p.list = append(p.list, l)
	}
	flush()
	return parts
}

// end is where the part ends, without the semicolon.
func (p part) end() int { return p.list[len(p.list)-1].end() }

// declares says whether the part may stand outside of functions.
func (p part) declares() bool {
	switch p.list[0].tok {
	case token.PACKAGE, token.IMPORT, token.VAR, token.CONST, token.TYPE:
		return true
	}
	return p.isFunction()
}

// isFunction says whether the part declares a function or a method; a function that is called where it stands does not.
func (p part) isFunction() bool {
	if p.list[0].tok != token.FUNC || len(p.list) < 2 {
		return false
	}
	if p.list[1].tok == token.IDENT {
		return true
	}
	end := slices.IndexFunc(p.list, func(l lexeme) bool { return l.tok == token.RPAREN })
	return end > 0 && end+1 < len(p.list) && p.list[end+1].tok == token.IDENT && end+2 < len(p.list) && p.list[end+2].tok == token.LPAREN
}

func (p part) isMain() bool {
	return len(p.list) > 1 && p.list[0].tok == token.FUNC && p.list[1].text == "main"
}

// Package cell translates the cells of a notebook into Go packages. A later cell imports the packages of earlier ones, so
// that all share their variables and types. Nothing here builds or runs a program. Begin with [Read] and [Notebook].
package cell

import (
	"go/scanner"
	"go/token"
	"strings"
)

// Source is the text of a cell, taken apart.
type Source struct {
	Magic    string    // a first line such as %%bash, which says what the other lines are; empty in a cell of Go
	Body     string    // those other lines
	Commands []Command // the lines that begin with ! or %
	Go       string    // the cell with blanks in place of the commands, so that nothing else moves
}

// Command is a line of a cell that is a command of the notebook: !SHELL or %NAME. Lines that end in a backslash go on.
type Command struct {
	Line int // from 1
	Text string
}

// magics are the first words of cells that are not Go.
var magics = map[string]bool{"%%writefile": true, "%%script": true, "%%bash": true, "%%sh": true}

// commentPrefix may stand before a command, which is then a comment for other tools.
const commentPrefix = "//gonb:"

// Read takes a cell apart. A line is a command only where a Go statement could begin: inside of a string, a comment or
// an expression it is text.
func Read(code string) Source {
	first, body, _ := strings.Cut(strings.TrimLeft(code, "\n"), "\n")
	first = strings.TrimPrefix(first, commentPrefix)
	if word, _, _ := strings.Cut(strings.TrimSpace(first), " "); magics[word] {
		return Source{Magic: strings.TrimSpace(first), Body: body}
	}
	text := []byte(code)
	var s Source
	for at := nextCommand(text, 0); at >= 0; {
		end := lineEnd(text, at)
		for end < len(text) && text[end-1] == '\\' {
			end = lineEnd(text, end+1)
		}
		line := strings.TrimSpace(strings.ReplaceAll(string(text[at:end]), "\\\n", " "))
		s.Commands = append(s.Commands, Command{1 + strings.Count(code[:at], "\n"), strings.TrimPrefix(line, commentPrefix)})
		for i := at; i < end; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
		at = nextCommand(text, end)
	}
	s.Go = string(text)
	return s
}

func lineEnd(text []byte, at int) int {
	if i := strings.IndexByte(string(text[at:]), '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// nextCommand returns where the next command begins, or -1. Only Go lies between from and there.
func nextCommand(text []byte, from int) int {
	rest := text[from:]
	s, file := newScanner(rest, scanner.ScanComments)
	begins, depth := true, 0 // whether a statement can begin here
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		switch {
		case tok == token.EOF:
			return -1
		case tok == token.COMMENT:
			if begins && depth == 0 && beginsLine(rest, at) && strings.HasPrefix(lit, commentPrefix) {
				return from + at
			}
			continue
		case begins && depth == 0 && (rest[at] == '!' || rest[at] == '%') && beginsLine(rest, at):
			return from + at
		}
		depth += nesting(tok)
		begins = tok == token.SEMICOLON
	}
}

func newScanner(text []byte, mode scanner.Mode) (*scanner.Scanner, *token.File) {
	file := token.NewFileSet().AddFile("", -1, len(text))
	s := new(scanner.Scanner)
	s.Init(file, text, func(token.Position, string) {}, mode)
	return s, file
}

func beginsLine(text []byte, at int) bool {
	line := string(text[strings.LastIndexByte(string(text[:at]), '\n')+1 : at])
	return strings.TrimSpace(line) == ""
}

// nesting is by how much a token changes the depth of brackets.
func nesting(tok token.Token) int {
	switch tok {
	case token.LPAREN, token.LBRACK, token.LBRACE:
		return 1
	case token.RPAREN, token.RBRACK, token.RBRACE:
		return -1
	}
	return 0
}

// Complete says whether a cell can run as it is. If not, it is open, and a next line is indented by depth, or it is invalid.
func Complete(code string) (complete, invalid bool, depth int) {
	s := Read(code)
	if s.Magic != "" {
		return true, false, 0
	}
	end := endOf(s.Go)
	_, err := split("", s.Go, false)
	switch {
	case err == nil && len(end.closing) == 0:
		return true, false, 0
	case len(end.closing) > 0, end.operator, end.many && end.inText:
		return false, false, len(end.closing)
	}
	return false, true, 0
}

// ending is how Go code ends.
type ending struct {
	closing  []string // what closes the brackets that are open
	inText   bool     // within a string, a character or a comment
	many     bool     // which can have many lines
	operator bool     // after an operator
}

func endOf(code string) (e ending) {
	s, file := newScanner([]byte(code+"\x00"), scanner.ScanComments) // the end is a token that is none
	pairs := map[token.Token]string{token.LPAREN: ")", token.LBRACK: "]", token.LBRACE: "}"}
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		if at >= len(code) || tok == token.EOF {
			return e
		}
		switch {
		case nesting(tok) > 0:
			e.closing = append([]string{pairs[tok]}, e.closing...)
		case nesting(tok) < 0 && len(e.closing) > 0:
			e.closing = e.closing[1:]
		}
		if tok != token.COMMENT && lit != "\n" {
			e.operator = tok.IsOperator() && tok != token.SEMICOLON && nesting(tok) == 0
		}
		e.inText = at+len(lit) > len(code)
		e.many = strings.HasPrefix(lit, "`") || strings.HasPrefix(lit, "/*")
	}
}

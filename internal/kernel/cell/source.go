package cell

import (
	"go/scanner"
	"go/token"
	"iter"
	"regexp"
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
func Read(code string) (s Source) {
	first, body, _ := strings.Cut(strings.TrimLeft(code, "\n"), "\n")
	first = strings.TrimPrefix(first, commentPrefix)
	if word, _, _ := strings.Cut(strings.TrimSpace(first), " "); magics[word] {
		return Source{Magic: strings.TrimSpace(first), Body: body}
	}
	for at := nextCommand(code, 0); at >= 0; {
		text := commandText.FindString(code[at:])
		line := strings.TrimSpace(strings.ReplaceAll(text, "\\\n", " "))
		s.Commands = append(s.Commands, Command{1 + strings.Count(code[:at], "\n"), strings.TrimPrefix(line, commentPrefix)})
		end := at + len(text)
		code = code[:at] + notNewline.ReplaceAllString(text, " ") + code[end:]
		at = nextCommand(code, end)
	}
	s.Go = code
	return s
}

var (
	commandText = regexp.MustCompile(`^([^\n]*\\\n)*[^\n]*`)
	notNewline  = regexp.MustCompile(`[^\n]`)
)

// nextCommand returns where the next command begins, or -1. Only Go lies between from and there.
func nextCommand(code string, from int) int {
	for l := range lexemes(code[from:]) {
		at := from + l.at
		if !l.begins || l.depth != 0 || strings.TrimSpace(code[strings.LastIndexByte(code[:at], '\n')+1:at]) != "" {
			continue
		}
		if code[at] == '!' || code[at] == '%' || strings.HasPrefix(l.text, commentPrefix) {
			return at
		}
	}
	return -1
}

// lexeme is a token of Go code, which need not be right. One that has no end in the code ends behind it.
type lexeme struct {
	at, end int
	token   token.Token
	text    string
	depth   int  // how many brackets are open before it
	begins  bool // a statement can begin with it
}

func lexemes(code string) iter.Seq[lexeme] {
	src := []byte(code + "\x00") // so that the last token is none that the scanner adds
	file := token.NewFileSet().AddFile("", -1, len(src))
	return func(yield func(lexeme) bool) {
		var s scanner.Scanner
		s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
		for depth, begins := 0, true; ; {
			pos, tok, text := s.Scan()
			if text == "" {
				text = tok.String()
			}
			l := lexeme{file.Offset(pos), file.Offset(pos) + len(text), tok, text, depth, begins}
			if l.at >= len(code) || !yield(l) {
				return
			}
			depth += nesting(tok)
			if tok != token.COMMENT {
				begins = tok == token.SEMICOLON
			}
		}
	}
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

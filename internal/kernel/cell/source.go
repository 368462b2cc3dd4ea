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
		end := lineEnd(code, at)
		for end < len(code) && code[end-1] == '\\' {
			end = lineEnd(code, end+1)
		}
		line := strings.TrimSpace(strings.ReplaceAll(code[at:end], "\\\n", " "))
		s.Commands = append(s.Commands, Command{1 + strings.Count(code[:at], "\n"), strings.TrimPrefix(line, commentPrefix)})
		code = code[:at] + notNewline.ReplaceAllString(code[at:end], " ") + code[end:]
		at = nextCommand(code, end)
	}
	s.Go = code
	return s
}

var notNewline = regexp.MustCompile(`(?s-m)[^\n]`)

func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

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

// lexeme is a token of Go code, which need not be right.
type lexeme struct {
	at, end int // where it stands; one that has no end in the code ends behind it
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

// Complete says whether a cell can run as it is. If not, it is open, and a next line is indented by depth, or it is invalid.
func Complete(code string) (complete, invalid bool, depth int) {
	s := Read(code)
	_, _, err := parse(token.NewFileSet(), source{"", s.Go})
	list, _ := err.(scanner.ErrorList)
	switch {
	case len(list) == 0:
		return true, false, 0
	case list[0].Pos == endOf(source{"", s.Go}), strings.HasPrefix(list[0].Msg, "raw string"), strings.HasPrefix(list[0].Msg, "comment not"):
		return false, false, len(formOf(s.Go).closing)
	}
	return false, true, 0
}

// form is what the brackets and the ends of statements tell of Go code, which need not be right.
type form struct {
	sections []section
	stray    int    // where the first bracket closes nothing, or -1
	closing  string // what closes the brackets that are open at the end
	inText   bool   // the end is within a string, a character or a comment
}

// section is a stretch of a cell.
type section struct {
	begin, end int
	outside    bool // of functions: an import, a function or a method
}

// outsideText begins what stands outside of functions. A function literal has no name.
var outsideText = regexp.MustCompile(`^(import\b|func\s+[\pL_]|func\s*\([^()]*\)\s*[\pL_][\pL\d_]*\s*\()`)

var closing = map[token.Token]string{token.LPAREN: ")", token.LBRACK: "]", token.LBRACE: "}"}

func formOf(code string) form {
	f := form{stray: -1}
	from, begin, end := 0, -1, 0 // the section, and a statement
	cut := func() {
		if begin >= 0 && outsideText.MatchString(code[begin:end]) {
			f.sections = append(f.sections, section{from, begin, false}, section{begin, end, true})
			from = end
		}
		begin = -1
	}
	for l := range lexemes(code) {
		switch {
		case nesting(l.token) > 0:
			f.closing = closing[l.token] + f.closing
		case nesting(l.token) < 0 && f.closing != "":
			f.closing = f.closing[1:]
		case nesting(l.token) < 0 && f.stray < 0:
			f.stray = l.at
		}
		f.inText = l.end > len(code)
		switch {
		case l.token == token.COMMENT:
			continue
		case l.token == token.SEMICOLON && l.depth <= 0:
			cut()
		default:
			end = min(l.end, len(code))
			if begin < 0 {
				begin = l.at
			}
		}
	}
	cut()
	f.sections = append(f.sections, section{from, len(code), false})
	return f
}

package cell

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// Source is the text of a cell, taken apart.
type Source struct {
	File     string    // what messages call the cell, such as In[3]
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
func Read(file, code string) Source {
	first, body, _ := strings.Cut(strings.TrimLeft(code, "\n"), "\n")
	first = strings.TrimSpace(strings.TrimPrefix(first, commentPrefix))
	if word, _, _ := strings.Cut(first, " "); magics[word] {
		return Source{File: file, Magic: first, Body: body}
	}
	s := Source{File: file, Go: code}
	for at := s.nextCommand(0); at >= 0; {
		text := commandText.FindString(s.Go[at:])
		line := strings.TrimSpace(strings.ReplaceAll(text, "\\\n", " "))
		s.Commands = append(s.Commands, Command{s.place(at).Line, strings.TrimPrefix(line, commentPrefix)})
		end := at + len(text)
		s.Go = s.Go[:at] + inLine.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) }) + s.Go[end:]
		at = s.nextCommand(end)
	}
	return s
}

var (
	commandText = regexp.MustCompile(`^([^\n]*\\\n)*[^\n]*`)
	inLine      = regexp.MustCompile(`[^\n]+`)
)

// nextCommand returns where the next command begins, or -1. Only Go lies between from and there.
func (s Source) nextCommand(from int) int {
	for l := range lexemes(s.Go[from:]) {
		at := from + l.at
		isCommand := s.Go[at] == '!' || s.Go[at] == '%' || strings.HasPrefix(l.text, commentPrefix)
		if isCommand && l.begins && l.depth == 0 && strings.TrimSpace(s.Go[strings.LastIndexByte(s.Go[:at], '\n')+1:at]) == "" {
			return at
		}
	}
	return -1
}

// place is the place of an offset.
func (s Source) place(at int) token.Position {
	line, column := 1+strings.Count(s.Go[:at], "\n"), at-strings.LastIndexByte(s.Go[:at], '\n')
	return token.Position{Filename: s.File, Line: line, Column: column}
}

func (s Source) end() token.Position { return s.place(len(strings.TrimRight(s.Go, " \t\n"))) }

// lexeme is a token of Go code, which need not be right. One that has no end in the code ends behind it.
type lexeme struct {
	at, end int
	token   token.Token
	text    string
	depth   int  // how many brackets are open behind it
	begins  bool // a statement can begin with it
}

var nesting = map[token.Token]int{token.LPAREN: 1, token.LBRACK: 1, token.LBRACE: 1, token.RPAREN: -1, token.RBRACK: -1, token.RBRACE: -1}

func lexemes(code string) iter.Seq[lexeme] {
	src := []byte(code + "\x00") // so that the last token is none that the scanner adds
	file := token.NewFileSet().AddFile("", -1, len(src))
	return func(yield func(lexeme) bool) {
		var s scanner.Scanner
		s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
		for depth, begins := 0, true; ; {
			pos, tok, text := s.Scan()
			text = cmp.Or(text, tok.String())
			depth += nesting[tok]
			l := lexeme{file.Offset(pos), file.Offset(pos) + len(text), tok, text, depth, begins}
			if l.at >= len(code) || !yield(l) {
				return
			}
			if tok != token.COMMENT {
				begins = tok == token.SEMICOLON
			}
		}
	}
}

// The parser reads statements only inside of functions, and functions and imports only outside. What declares names for the
// notebook stands outside, too.
var (
	outside    = regexp.MustCompile(`^((import|const|type|var) |func [\pL_]|func \( [^()]*\) [\pL_]\S* \()`)
	definition = regexp.MustCompile(`^([\pL_]\S* , )*[\pL_]\S* := `)
)

// form is the code as a file, which need not be right: what does not stand outside of functions is in functions, and a definition
// by := is one by var. open is how many brackets are open at the end. The error is that of a bracket that closes nothing.
func (s Source) form() (text string, open int, err error) {
	text = "package cell;"
	add := func(before string, at int, code, after string) {
		place := s.place(at)
		text += fmt.Sprintf("%s/*line %s:%d:%d*/%s%s", before, s.File, place.Line, place.Column, code, after)
	}
	from, begin, end := 0, 0, 0 // where the text between begins, and a statement
	var words []string          // of the statement
	cut := func() {
		line, keyword, code := strings.Join(words, " "), "", s.Go[begin:end]
		words = nil
		if definition.MatchString(line) {
			keyword, code = "var ", strings.Replace(code, ":=", " =", 1)
		}
		if keyword != "" || outside.MatchString(line) {
			add("func "+our+"() {", from, s.Go[from:begin], "};")
			add(keyword, begin, code, ";")
			from = end
		}
	}
	for l := range lexemes(s.Go) {
		open = l.depth
		if open < 0 && err == nil {
			err = scanner.ErrorList{{Pos: s.place(l.at), Msg: "a " + l.text + " that closes nothing"}}
		}
		switch {
		case l.token == token.COMMENT:
		case l.token == token.SEMICOLON && l.depth <= 0:
			cut()
		default:
			if len(words) == 0 {
				begin = l.at
			}
			words, end = append(words, l.text), min(l.end, len(s.Go))
		}
	}
	cut()
	add("func "+our+"() {", from, s.Go[from:], "\n}") // it may end in a comment
	return text, open, err
}

// Complete says whether a cell can run as it is: whether it is "complete", "incomplete" or "invalid". After incomplete code, a
// next line is indented by depth.
func Complete(code string) (status string, depth int) {
	s := Read("", code)
	_, _, err := parse(token.NewFileSet(), s)
	list, _ := err.(scanner.ErrorList)
	switch {
	case len(list) == 0:
		return "complete", 0
	case list[0].Pos == s.end(), strings.HasPrefix(list[0].Msg, "raw string"), strings.HasPrefix(list[0].Msg, "comment not"):
		_, depth, _ = s.form()
		return "incomplete", depth
	}
	return "invalid", 0
}

// part is a declaration or statement of a cell.
type part struct {
	node ast.Node // *ast.FuncDecl, *ast.GenDecl with one type or one line of variables, or ast.Stmt
	text string
	name string // of a function or type, or of a method: T.M
	of   string // the type that it declares, or to which the method belongs
	from Source
}

// free is the object of names that a cell does not declare where it uses them.
var free = ast.NewObj(ast.Bad, "free")

// parse cuts the Go code of a cell into its parts. Each type and each line of variables is one; the lines of constants belong
// together. With an error, it goes as far as what parses.
func parse(fset *token.FileSet, s Source) (f *ast.File, parts []part, err error) {
	text, _, stray := s.form()
	f, err = parser.ParseFile(fset, s.File, text, 0)
	for _, id := range f.Unresolved {
		id.Obj = free
	}
	at := func(p token.Pos) int { return min(int(p-f.FileStart), len(text)) }
	add := func(n ast.Node, name, of string) {
		parts = append(parts, part{n, text[at(n.Pos()):at(n.End())], name, of, s})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Name.Name == our && d.Body != nil:
				for _, s := range d.Body.List {
					if _, empty := s.(*ast.EmptyStmt); !empty {
						add(s, "", "")
					}
				}
			case d.Recv.NumFields() > 0:
				of, _, _ := strings.Cut(strings.Trim(types.ExprString(d.Recv.List[0].Type), "*()"), "[")
				add(d, of+"."+d.Name.Name, of)
			default:
				add(d, d.Name.Name, "")
			}
		case *ast.GenDecl:
			if d.Tok == token.CONST {
				add(d, "", "")
				continue
			}
			for _, s := range d.Specs {
				name := ""
				if t, ok := s.(*ast.TypeSpec); ok {
					name = t.Name.Name
				}
				add(&ast.GenDecl{TokPos: s.Pos(), Tok: d.Tok, Specs: []ast.Spec{s}}, name, name)
			}
		}
	}
	return f, parts, cmp.Or(stray, s.within(err))
}

// within places the parser's errors that are behind the code at its end. That imports stand at the beginning is not asked here.
func (s Source) within(err error) error {
	var list scanner.ErrorList
	errors.As(err, &list)
	list = slices.DeleteFunc(list, func(e *scanner.Error) bool { return strings.HasPrefix(e.Msg, "imports must appear") })
	for _, e := range list {
		if end := s.end(); e.Pos.Line > end.Line || e.Pos.Line == end.Line && e.Pos.Column >= end.Column {
			e.Pos, e.Msg = end, "the cell ends within a statement"
		}
	}
	return list.Err()
}

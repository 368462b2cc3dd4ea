package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
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
		s.Go = s.Go[:at] + notNewline.ReplaceAllString(text, " ") + s.Go[end:]
		at = s.nextCommand(end)
	}
	return s
}

var (
	commandText = regexp.MustCompile(`^([^\n]*\\\n)*[^\n]*`)
	notNewline  = regexp.MustCompile(`[^\n]`)
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
	depth   int  // how many brackets are open before it
	opens   int  // how many more are after it
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
			if text == "" {
				text = tok.String()
			}
			l := lexeme{file.Offset(pos), file.Offset(pos) + len(text), tok, text, depth, nesting[tok], begins}
			if l.at >= len(code) || !yield(l) {
				return
			}
			depth += l.opens
			if tok != token.COMMENT {
				begins = tok == token.SEMICOLON
			}
		}
	}
}

// form is what the brackets and the ends of statements tell of Go code, which need not be right.
type form struct {
	text   string // the code as a file: what does not stand outside of functions is in functions
	stray  int    // where the first bracket closes nothing, or -1
	depth  int    // how many brackets are open at the end
	inText bool   // the end is within a string, a character or a comment
}

// outsideText begins what stands outside of functions: an import, a function or a method. A function literal has no name.
var outsideText = regexp.MustCompile(`^(import\b|func\s+[\pL_]|func\s*\([^()]*\)\s*[\pL_][\pL\d_]*\s*\()`)

// form finds the form of code. The parser reads statements only inside of functions, and functions and imports only outside.
func (s Source) form() form {
	f := form{stray: -1, text: "package cell;"}
	add := func(before string, begin, end int, after string) {
		at := s.place(begin)
		f.text += fmt.Sprintf("%s/*line %s:%d:%d*/%s%s", before, s.File, at.Line, at.Column, s.Go[begin:end], after)
	}
	from, begin, end := 0, -1, 0 // where the text between begins, and a statement
	cut := func() {
		if begin >= 0 && outsideText.MatchString(s.Go[begin:end]) {
			add("func "+our+"() {", from, begin, "};")
			add("", begin, end, ";")
			from = end
		}
		begin = -1
	}
	for l := range lexemes(s.Go) {
		f.depth, f.inText = l.depth+l.opens, l.end > len(s.Go)
		if f.depth < 0 && f.stray < 0 {
			f.stray = l.at
		}
		switch {
		case l.token == token.COMMENT:
		case l.token == token.SEMICOLON && l.depth <= 0:
			cut()
		default:
			end = min(l.end, len(s.Go))
			if begin < 0 {
				begin = l.at
			}
		}
	}
	cut()
	add("func "+our+"() {", from, len(s.Go), "\n}") // it may end in a comment
	return f
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
		return "incomplete", s.form().depth
	}
	return "invalid", 0
}

// part is a declaration or statement of a cell.
type part struct {
	node  ast.Node // *ast.FuncDecl, *ast.GenDecl with one type or one line of variables, or ast.Stmt
	text  string
	names []*ast.Ident // what it declares for the whole notebook
	name  string       // of a function or type, or of a method: T.M
	of    string       // the type that it declares, or to which the method belongs
	from  Source
}

// free is the object of names that a cell does not declare where it uses them.
var free = ast.NewObj(ast.Bad, "free")

// parse cuts the Go code of a cell into its parts. With an error, it goes as far as what parses.
func parse(fset *token.FileSet, s Source) (f *ast.File, parts []part, err error) {
	form := s.form()
	f, err = parser.ParseFile(fset, s.File, form.text, 0)
	err = s.within(err)
	if form.stray >= 0 {
		err = scanner.ErrorList{{Pos: s.place(form.stray), Msg: "a " + s.Go[form.stray:form.stray+1] + " that closes nothing"}}
	}
	if f == nil {
		return nil, nil, err
	}
	for _, id := range f.Unresolved {
		id.Obj = free
	}
	at := func(p token.Pos) int { return min(int(p-f.FileStart), len(form.text)) }
	for _, n := range nodes(f) {
		p := part{node: n, from: s, text: form.text[at(n.Pos()):at(n.End())]}
		p.declare()
		parts = append(parts, p)
	}
	return f, parts, err
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

// nodes lists the declarations and statements of a cell. Each type and each line of variables is a declaration of its own; the
// lines of constants belong together.
func nodes(f *ast.File) (list []ast.Node) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != our || fn.Body == nil {
			list = append(list, d)
			continue
		}
		for _, s := range fn.Body.List {
			switch s := s.(type) {
			case *ast.EmptyStmt:
			case *ast.DeclStmt:
				g := s.Decl.(*ast.GenDecl)
				if g.Tok == token.CONST {
					list = append(list, g)
					continue
				}
				for _, s := range g.Specs {
					list = append(list, &ast.GenDecl{TokPos: s.Pos(), Tok: g.Tok, Specs: []ast.Spec{s}})
				}
			default:
				list = append(list, s)
			}
		}
	}
	return list
}

// declare finds what a part declares.
func (p *part) declare() {
	switch n := p.node.(type) {
	case *ast.FuncDecl:
		p.name = n.Name.Name
		if n.Recv == nil || len(n.Recv.List) == 0 {
			p.names = []*ast.Ident{n.Name}
			return
		}
		ast.Inspect(n.Recv.List[0].Type, func(n ast.Node) bool { // the first name there is that of the type
			if id, ok := n.(*ast.Ident); ok && p.of == "" {
				p.of = id.Name
			}
			return true
		})
		p.name = p.of + "." + p.name
	case *ast.GenDecl:
		for _, s := range n.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				p.names, p.name, p.of = []*ast.Ident{s.Name}, s.Name.Name, s.Name.Name
			case *ast.ValueSpec:
				p.names = append(p.names, s.Names...)
			}
		}
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			id, ok := e.(*ast.Ident)
			if !ok || n.Tok != token.DEFINE {
				p.names = nil
				return
			}
			p.names = append(p.names, id)
		}
	}
}

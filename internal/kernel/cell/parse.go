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

// source is the Go code of a cell, and what messages call the cell, such as In[3].
type source struct{ file, code string }

// place is the place of an offset.
func (s source) place(at int) token.Position {
	line, column := 1+strings.Count(s.code[:at], "\n"), at-strings.LastIndexByte(s.code[:at], '\n')
	return token.Position{Filename: s.file, Line: line, Column: column}
}

func (s source) end() token.Position { return s.place(len(strings.TrimRight(s.code, " \t\n"))) }

// form is what the brackets and the ends of statements tell of Go code, which need not be right.
type form struct {
	text    string // the code as a file: what does not stand outside of functions is in functions
	stray   int    // where the first bracket closes nothing, or -1
	closing string // what closes the brackets that are open at the end
	inText  bool   // the end is within a string, a character or a comment
}

// outsideText begins what stands outside of functions: an import, a function or a method. A function literal has no name.
var outsideText = regexp.MustCompile(`^(import\b|func\s+[\pL_]|func\s*\([^()]*\)\s*[\pL_][\pL\d_]*\s*\()`)

var closing = map[token.Token]string{token.LPAREN: ")", token.LBRACK: "]", token.LBRACE: "}"}

// form finds the form of code. The parser reads statements only inside of functions, and functions and imports only outside.
func (s source) form() form {
	f := form{stray: -1, text: "package cell;"}
	add := func(before string, begin, end int, after string) {
		at := s.place(begin)
		f.text += fmt.Sprintf("%s/*line %s:%d:%d*/%s%s", before, s.file, at.Line, at.Column, s.code[begin:end], after)
	}
	from, begin, end := 0, -1, 0 // where the text between begins, and a statement
	cut := func() {
		if begin >= 0 && outsideText.MatchString(s.code[begin:end]) {
			add("func "+our+"() {", from, begin, "};")
			add("", begin, end, ";")
			from = end
		}
		begin = -1
	}
	for l := range lexemes(s.code) {
		switch {
		case nesting(l.token) > 0:
			f.closing = closing[l.token] + f.closing
		case nesting(l.token) < 0 && f.closing != "":
			f.closing = f.closing[1:]
		case nesting(l.token) < 0 && f.stray < 0:
			f.stray = l.at
		}
		f.inText = l.end > len(s.code)
		switch {
		case l.token == token.COMMENT:
		case l.token == token.SEMICOLON && l.depth <= 0:
			cut()
		default:
			end = min(l.end, len(s.code))
			if begin < 0 {
				begin = l.at
			}
		}
	}
	cut()
	add("func "+our+"() {", from, len(s.code), "\n}") // it may end in a comment
	return f
}

// part is a declaration or statement of a cell.
type part struct {
	node  ast.Node // *ast.FuncDecl, *ast.GenDecl with one type or one line of variables, or ast.Stmt
	text  string
	name  string // of a function or type, or of a method: T.M
	of    string // the type that it declares, or to which the method belongs
	from  source
	again bool // it is of an earlier cell, and comes again with its type
}

// free is the object of names that a cell does not declare where it uses them.
var free = ast.NewObj(ast.Bad, "free")

// parse cuts the Go code of a cell into its parts. With an error, it goes as far as what parses.
func parse(fset *token.FileSet, s source) (f *ast.File, parts []part, err error) {
	form := s.form()
	f, err = parser.ParseFile(fset, s.file, form.text, 0)
	err = s.within(err)
	if form.stray >= 0 {
		err = scanner.ErrorList{{Pos: s.place(form.stray), Msg: "a " + s.code[form.stray:form.stray+1] + " that closes nothing"}}
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
		p.name, p.of = nameOf(n)
		parts = append(parts, p)
	}
	return f, parts, err
}

// within places the parser's errors that are behind the code at its end. That imports stand at the beginning is not asked here.
func (s source) within(err error) error {
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

// Complete says whether a cell can run as it is: whether it is "complete", "incomplete" or "invalid". After incomplete code, a
// next line is indented by depth.
func Complete(code string) (status string, depth int) {
	s := source{"", Read(code).Go}
	_, _, err := parse(token.NewFileSet(), s)
	list, _ := err.(scanner.ErrorList)
	switch {
	case len(list) == 0:
		return "complete", 0
	case list[0].Pos == s.end(), strings.HasPrefix(list[0].Msg, "raw string"), strings.HasPrefix(list[0].Msg, "comment not"):
		return "incomplete", len(s.form().closing)
	}
	return "invalid", 0
}

// nodes lists the declarations and statements of a cell. Each type and each line of variables is a declaration of its own.
func nodes(f *ast.File) (list []ast.Node) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != our || fn.Body == nil {
			list = append(list, d)
			continue
		}
		for _, s := range fn.Body.List {
			d, _ := s.(*ast.DeclStmt)
			if _, empty := s.(*ast.EmptyStmt); empty {
				continue
			}
			if d == nil {
				list = append(list, s)
				continue
			}
			g := d.Decl.(*ast.GenDecl)
			if g.Tok == token.CONST { // its lines belong together
				list = append(list, g)
				continue
			}
			for _, s := range g.Specs {
				list = append(list, &ast.GenDecl{TokPos: s.Pos(), Tok: g.Tok, Specs: []ast.Spec{s}})
			}
		}
	}
	return list
}

// nameOf returns the name of a function, method or type, and the type of the last two.
func nameOf(n ast.Node) (name, of string) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil || len(n.Recv.List) == 0 {
			return n.Name.Name, ""
		}
		ast.Inspect(n.Recv.List[0].Type, func(n ast.Node) bool { // the first name there is that of the type
			if id, ok := n.(*ast.Ident); ok && of == "" {
				of = id.Name
			}
			return true
		})
		return of + "." + n.Name.Name, of
	case *ast.GenDecl:
		if n.Tok == token.TYPE {
			name = n.Specs[0].(*ast.TypeSpec).Name.Name
		}
	}
	return name, name
}

// declared lists the names that a declaration or statement declares for the whole notebook.
func declared(n ast.Node) (names []*ast.Ident) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil {
			names = []*ast.Ident{n.Name}
		}
	case *ast.GenDecl:
		for _, s := range n.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name)
			case *ast.ValueSpec:
				names = append(names, s.Names...)
			}
		}
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			id, ok := e.(*ast.Ident)
			if !ok || n.Tok != token.DEFINE {
				return nil
			}
			names = append(names, id)
		}
	}
	return names
}

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

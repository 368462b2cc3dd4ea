package cell

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// kind is what a part of a cell is.
type kind int

const (
	isImport kind = iota
	isFunc        // a function or a method
	isType        // one type
	isConst
	isVar
	isDefine // a, b := …
	isStmt
)

// part is a declaration or statement of a cell.
type part struct {
	kind    kind
	text    string
	file    string // where the text stands, for messages: In[3]
	line    int
	column  int
	names   []string // that a definition or a declaration of variables declares
	at      int      // where the := of a definition is, the names of variables end, the name of a function begins
	value   int      // where the values of variables begin; 0 if they have none
	old     []int    // where the right side of a definition mentions what one of its names was before
	name    string   // of a function, a method or a type
	on      string   // the type of a method
	generic bool     // it has type parameters
	again   bool     // it is of an earlier cell, and comes again with its type

	begin, end int // where it stands in the text that is checked
}

// Mistakes are what is wrong with a cell, each with its place: "In[3]:2:5: undefined: x".
type Mistakes []Mistake

// Mistake is one thing that is wrong with a cell.
type Mistake struct {
	File         string
	Line, Column int
	Text         string
}

func (m Mistake) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Text)
}

func (m Mistakes) Error() string {
	var lines []string
	for _, one := range m {
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

const noPackage = "no package "

// Missing are packages that a cell imports and the notebook does not have; see [Notebook.Add].
func (m Mistakes) Missing() (paths []string) {
	for _, one := range m {
		if p, ok := strings.CutPrefix(one.Text, noPackage); ok {
			paths = append(paths, p)
		}
	}
	return paths
}

// split cuts the Go code of a cell into its parts. The parser reads statements only inside of functions, and functions and
// imports only outside. So the code is cut at these, and what is between is read as the body of a function. Lenient, it goes as
// far as what parses.
func split(file, code string, lenient bool) (parts []part, err error) {
	for _, s := range sections([]byte(code)) {
		line, column := place(code, s.begin)
		more, err := s.parts(code[s.begin:s.end], file, line, column, lenient)
		if err != nil {
			return nil, err
		}
		parts = append(parts, more...)
	}
	return parts, nil
}

// place is the line and column of an offset, from 1.
func place(text string, at int) (line, column int) {
	return 1 + strings.Count(text[:at], "\n"), at - strings.LastIndexByte(text[:at], '\n')
}

// section is a stretch of a cell.
type section struct {
	begin, end int
	outside    bool // of functions: an import, a function or a method
}

// outsideText begins what stands outside of functions. A function literal has no name.
var outsideText = regexp.MustCompile(`^(import\b|func\s+[\pL_]|func\s*\([^()]*\)\s*[\pL_][\pL\d_]*\s*\()`)

func sections(text []byte) (list []section) {
	add := func(begin, end int, outside bool) {
		if len(bytes.TrimSpace(text[begin:end])) > 0 {
			list = append(list, section{begin, end, outside})
		}
	}
	s, file := newScanner(text, 0)
	from, begin, end, depth := 0, -1, 0, 0 // begin and end of a statement
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		if tok == token.SEMICOLON && depth <= 0 || tok == token.EOF {
			if begin >= 0 && outsideText.Match(text[begin:end]) {
				add(from, begin, false)
				add(begin, end, true)
				from = end
			}
			begin = -1
			if tok == token.EOF {
				add(from, len(text), false)
				return list
			}
			if lit == ";" && from == at {
				from = at + 1
			}
			continue
		}
		depth += nesting(tok)
		if begin < 0 {
			begin = at
		}
		if lit == "" {
			lit = tok.String()
		}
		end = min(at+len(lit), len(text))
	}
}

// parts returns the parts of a section. Lenient, it returns those of a section that does not parse, as far as it goes.
func (s section) parts(text, file string, line, column int, lenient bool) ([]part, error) {
	before, after := "package p; ", ""
	if !s.outside {
		before, after = "package p; func _() { ", "\n}"
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", fmt.Sprintf("%s/*line %s:%d:%d*/%s%s", before, file, line, column, text, after), 0)
	if err != nil && (!lenient || f == nil) {
		return nil, within(mistakesOf(err), text, line)
	}
	base := len(before) + len(fmt.Sprintf("/*line %s:%d:%d*/", file, line, column))
	at := func(p token.Pos) int { return min(max(fset.File(f.FileStart).Offset(p)-base, 0), len(text)) }
	piece := func(k kind, begin, end token.Pos) part {
		p := part{kind: k, text: text[at(begin):at(end)], file: file}
		p.line, p.column = place(text, at(begin))
		if p.line == 1 {
			p.column += column - 1
		}
		p.line += line - 1
		return p
	}
	if s.outside {
		return outsideParts(f, piece), nil
	}
	if len(f.Decls) == 0 {
		return nil, nil
	}
	if len(f.Decls) > 1 && !lenient { // a brace too many ended the function
		pos := fset.Position(f.Decls[1].Pos())
		return nil, Mistakes{{file, pos.Line, pos.Column, "a } without its {"}}
	}
	unresolved := map[*ast.Ident]bool{}
	for _, id := range f.Unresolved {
		unresolved[id] = true
	}
	var parts []part
	body, ok := f.Decls[0].(*ast.FuncDecl)
	if !ok || body.Body == nil {
		return nil, nil
	}
	for _, stmt := range body.Body.List {
		switch s := stmt.(type) {
		case *ast.EmptyStmt:
		case *ast.DeclStmt:
			parts = append(parts, declared(s.Decl.(*ast.GenDecl), piece)...)
		case *ast.AssignStmt:
			p := piece(isStmt, s.Pos(), s.End())
			if names, ok := plainNames(s); ok {
				p.kind, p.names, p.at = isDefine, names, at(s.TokPos)-at(s.Pos())
				p.old = mentions(s.Rhs, names, unresolved, func(pos token.Pos) int { return at(pos) - at(s.Pos()) })
			}
			parts = append(parts, p)
		default:
			parts = append(parts, piece(isStmt, stmt.Pos(), stmt.End()))
		}
	}
	return parts, nil
}

func outsideParts(f *ast.File, piece func(kind, token.Pos, token.Pos) part) []part {
	if len(f.Decls) == 0 {
		return nil
	}
	d, ok := f.Decls[0].(*ast.FuncDecl)
	if !ok {
		return []part{piece(isImport, f.Decls[0].Pos(), f.Decls[len(f.Decls)-1].End())}
	}
	p := piece(isFunc, d.Pos(), d.End())
	p.name, p.at, p.generic = d.Name.Name, int(d.Name.Pos()-d.Pos()), d.Type.TypeParams != nil
	if d.Recv != nil && len(d.Recv.List) == 1 {
		p.on = receiver(d.Recv.List[0].Type)
	}
	return []part{p}
}

// receiver is the name of the type in a receiver: the first name there.
func receiver(e ast.Expr) (name string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// declared returns the parts of a declaration: each type is one, and so is each line of variables.
func declared(d *ast.GenDecl, piece func(kind, token.Pos, token.Pos) part) (parts []part) {
	if d.Tok == token.CONST {
		return []part{piece(isConst, d.Pos(), d.End())}
	}
	for _, s := range d.Specs {
		var p part
		switch s := s.(type) {
		case *ast.TypeSpec:
			p = piece(isType, s.Pos(), s.End())
			p.name = s.Name.Name
		case *ast.ValueSpec:
			p = piece(isVar, s.Pos(), s.End())
			for _, id := range s.Names {
				p.names, p.at = append(p.names, id.Name), int(id.End()-s.Pos())
			}
			if len(s.Values) > 0 {
				p.value = int(s.Values[0].Pos() - s.Pos())
			}
		}
		parts = append(parts, p)
	}
	return parts
}

// plainNames are the names that a := declares.
func plainNames(s *ast.AssignStmt) (names []string, ok bool) {
	for _, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		if !ok || s.Tok != token.DEFINE {
			return nil, false
		}
		names = append(names, id.Name)
	}
	return names, true
}

// mentions returns where expressions mention names from outside of the cell.
func mentions(list []ast.Expr, names []string, unresolved map[*ast.Ident]bool, at func(token.Pos) int) (places []int) {
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && unresolved[id] && slices.Contains(names, id.Name) {
				places = append(places, at(id.Pos()))
			}
			return true
		})
	}
	return places
}

func mistakesOf(err error) error {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	var m Mistakes
	for _, e := range list {
		m = append(m, Mistake{e.Pos.Filename, e.Pos.Line, e.Pos.Column, e.Msg})
	}
	return m
}

// within places mistakes that the parser finds after the end of a section, which begins at a line, at that end.
func within(err error, text string, line int) error {
	m, ok := err.(Mistakes)
	if !ok {
		return err
	}
	text = strings.TrimRight(text, " \t\n")
	lines, column := place(text, len(text))
	for i := range m {
		if m[i].Line > line+lines-1 {
			m[i].Line, m[i].Column = line+lines-1, column
			m[i].Text = strings.ReplaceAll(m[i].Text, "found '}'", "found the end of the cell")
		}
	}
	return m
}

// directive is the comment that says where the text after it stands.
func (p part) directive() string { return fmt.Sprintf("/*line %s:%d:%d*/", p.file, p.line, p.column) }

package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// source is the Go code of a cell, and what messages call the cell, such as In[3].
type source struct{ file, code string }

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
var free = new(ast.Object)

// parse cuts the Go code of a cell into its parts. The parser reads statements only inside of functions, and functions and
// imports only outside. So what is between these becomes the body of a function. With an error, it goes as far as what parses.
func parse(fset *token.FileSet, s source) (f *ast.File, parts []part, err error) {
	form := formOf(s.code)
	text := "package cell;"
	for _, section := range form.sections {
		at := s.place(section.begin)
		stretch := fmt.Sprintf("/*line %s:%d:%d*/%s", s.file, at.Line, at.Column, s.code[section.begin:section.end])
		switch {
		case section.outside:
			text += stretch + ";"
		case section.end == len(s.code): // it may end in a comment
			text += "func " + our + "() {" + stretch + "\n}"
		default:
			text += "func " + our + "() {" + stretch + "};"
		}
	}
	f, err = parser.ParseFile(fset, s.file, text, 0)
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
	for _, n := range nodes(f) {
		file := fset.File(f.FileStart)
		p := part{node: n, from: s, text: text[file.Offset(n.Pos()):min(file.Offset(n.End()), len(text))]}
		p.name, p.of = nameOf(n)
		parts = append(parts, p)
	}
	return f, parts, err
}

// place is the place of an offset.
func (s source) place(at int) token.Position {
	line, column := 1+strings.Count(s.code[:at], "\n"), at-strings.LastIndexByte(s.code[:at], '\n')
	return token.Position{Filename: s.file, Line: line, Column: column}
}

func endOf(s source) token.Position { return s.place(len(strings.TrimRight(s.code, " \t\n"))) }

// within places the parser's errors that are behind the code at its end. That imports stand at the beginning is not asked here.
func (s source) within(err error) error {
	var list scanner.ErrorList
	errors.As(err, &list)
	end := endOf(s)
	list = slices.DeleteFunc(list, func(e *scanner.Error) bool { return strings.HasPrefix(e.Msg, "imports must appear") })
	for _, e := range list {
		if e.Pos.Line > end.Line || e.Pos.Line == end.Line && e.Pos.Column >= end.Column {
			e.Pos, e.Msg = end, "the cell ends within a statement"
		}
	}
	return list.Err()
}

// nodes lists the declarations and statements of a cell.
func nodes(f *ast.File) (list []ast.Node) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != our || fn.Body == nil {
			list = append(list, d)
			continue
		}
		for _, s := range fn.Body.List {
			d, ok := s.(*ast.DeclStmt)
			if _, empty := s.(*ast.EmptyStmt); !ok && !empty {
				list = append(list, s)
			} else if ok {
				list = append(list, declarations(d.Decl.(*ast.GenDecl))...)
			}
		}
	}
	return list
}

// declarations makes each type and each line of variables a declaration of its own.
func declarations(d *ast.GenDecl) (list []ast.Node) {
	if d.Tok == token.CONST {
		return []ast.Node{d}
	}
	for _, s := range d.Specs {
		list = append(list, &ast.GenDecl{TokPos: s.Pos(), Tok: d.Tok, Specs: []ast.Spec{s}})
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

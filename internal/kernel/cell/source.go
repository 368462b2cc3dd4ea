package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// find finds the declaration of an object in the source: its text, if it is a type or one of Go's
// own functions, and its comment.
func (c *Cell) find(o types.Object) (text, doc string) {
	switch {
	case o.Pkg() == nil:
		return inFile(filepath.Join(c.nb.root, "src", "builtin", "builtin.go"), o.Name(), 0)
	case o.Pkg().Path() == Path:
		return c.findOwn(o)
	}
	return inFile(c.nb.file(o.Pos()), o.Name(), c.nb.fset.Position(o.Pos()).Line)
}

// findOwn finds the declaration of an object of cells: what stands in this one, or else the newest
// one of that name, or that at the object's place.
func (c *Cell) findOwn(o types.Object) (text, doc string) {
	switch v := o.(type) {
	case *types.Var:
		o = v.Origin()
	case *types.Func:
		o = v.Origin()
	}
	if c.mine[o] {
		return c.source.find(c.fset.Position(o.Pos()), "")
	}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(c.nb.cells))) {
		one, at, name := c.nb.cells[id], token.Position{}, nameIn(o)
		if isField(o) {
			if !one.mine[o] {
				continue
			}
			at, name = one.fset.Position(o.Pos()), ""
			if at.Filename != one.source.File { // it came along from an earlier cell
				continue
			}
		}
		if strings.Contains(one.source.Go, o.Name()) {
			if text, doc := one.source.find(at, name); text != "" || doc != "" {
				return text, doc
			}
		}
	}
	return "", ""
}

// find finds the declaration of a name outside of functions, or if there is no name, what is
// declared at a place.
func (s Source) find(place token.Position, name string) (text, doc string) {
	for st := (statement{}); st.next < len(s.Go); {
		from := st.next
		if st = s.statement(from); st.command || len(st.words) == 0 {
			continue
		}
		head, depth := "package cell; func _() { ", 1
		if outside.MatchString(strings.Join(st.words, " ")) {
			head, depth = "package cell; ", 0
		}
		if from == 0 {
			head += "\n" // else a comment there would belong to the head
		}
		fset := token.NewFileSet()
		f, _ := parser.ParseFile(fset, "", head+s.Go[from:st.next]+"\n}"[:2*depth], parser.ParseComments)
		text, doc, found := declaration(fset, f, func(id *ast.Ident, stack []ast.Node) bool {
			if name == "" {
				within := fset.Position(id.Pos()).Offset - len(head)
				at := s.place(from + max(0, within))
				return within >= 0 && at.Line == place.Line && at.Column == place.Column
			}
			blocks := 0
			for _, n := range stack {
				if _, ok := n.(*ast.BlockStmt); ok {
					blocks++
				}
			}
			of := ""
			switch n := stack[len(stack)-1].(type) {
			case *ast.Field:
				return false
			case *ast.FuncDecl:
				if n.Recv.NumFields() > 0 {
					if base, _ := receiver(n); base != nil {
						of = base.Name + "."
					}
				}
			}
			return blocks == depth && of+id.Name == name
		})
		if found {
			return text, doc
		}
	}
	return "", ""
}

// inFile finds the declaration of a name at a line of a file, or the first one.
func inFile(file, name string, line int) (text, doc string) {
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if f == nil {
		return "", ""
	}
	text, doc, _ = declaration(fset, f, func(id *ast.Ident, _ []ast.Node) bool {
		return id.Name == name && (line == 0 || fset.Position(id.Pos()).Line == line)
	})
	return text, doc
}

// declaration finds what declares a name: the text of a type or of a function, and the comment.
func declaration(fset *token.FileSet, f *ast.File, is func(id *ast.Ident, stack []ast.Node) bool) (text, doc string,
	found bool) {
	ast.PreorderStack(f, nil, func(n ast.Node, stack []ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if found || !ok || len(stack) == 0 {
			return !found
		}
		var node ast.Node
		var groups []*ast.CommentGroup
		above := stack[max(0, len(stack)-2)]
		switch by := stack[len(stack)-1].(type) {
		case *ast.FuncDecl:
			if by.Name == id {
				groups, node = []*ast.CommentGroup{by.Doc}, &ast.FuncDecl{Recv: by.Recv, Name: by.Name, Type: by.Type}
			}
		case *ast.TypeSpec:
			if by.Name == id {
				groups = []*ast.CommentGroup{by.Doc, above.(*ast.GenDecl).Doc, by.Comment}
				spec := *by
				spec.Doc, spec.Comment = nil, nil
				node = &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&spec}}
			}
		case *ast.ValueSpec:
			if slices.Contains(by.Names, id) {
				groups = []*ast.CommentGroup{by.Doc, by.Comment, above.(*ast.GenDecl).Doc}
			}
		case *ast.Field:
			if slices.Contains(by.Names, id) || len(by.Names) == 0 {
				groups = []*ast.CommentGroup{by.Doc, by.Comment}
			}
		}
		if groups == nil || !is(id, stack) {
			return true
		}
		found = true
		for _, g := range groups {
			if doc == "" && g != nil {
				doc = strings.TrimSpace(g.Text())
			}
		}
		if node != nil {
			text = formatted(fset, node)
		}
		return false
	})
	return text, doc, found
}

// formatted is the text of a declaration, or its begin.
func formatted(fset *token.FileSet, n ast.Node) string {
	var b strings.Builder
	(&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&b, fset, n)
	lines := strings.Split(b.String(), "\n")
	if more := len(lines) - mostLines; more > 0 {
		lines = append(lines[:mostLines], fmt.Sprintf("// and %d more lines", more))
	}
	return strings.Join(lines, "\n")
}

// Sources lists the files of the package in a folder.
func Sources(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// docOf is the comment of the package in a folder.
func docOf(dir string) string {
	for _, name := range Sources(dir) {
		f, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if f != nil && f.Doc != nil {
			return strings.TrimSpace(f.Doc.Text())
		}
	}
	return ""
}

// declares says whether the package in a folder declares all of some names.
func declares(dir string, names []string) bool {
	declared := map[string]bool{}
	for _, name := range Sources(dir) {
		if f, _ := parser.ParseFile(token.NewFileSet(), name, nil, 0); f != nil {
			for name := range f.Scope.Objects {
				declared[name] = true
			}
		}
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !declared[name] })
}

package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
)

// typeText writes a type as the translation must: cells' names in the form that other cells see.
func (t *translation) typeText(typ types.Type) string {
	packages := map[string]*types.Package{}
	text := types.TypeString(types.Default(typ), func(p *types.Package) string {
		name := fmt.Sprint(our, t.nb.home[p]) // 0 in this cell
		if p.Path() != ourPath {
			name = our + p.Name() + fmt.Sprint(len(p.Path())) // whatever the cell calls it
			t.named[name] = p.Path()
		}
		packages[name] = p
		return name
	})
	e, err := parser.ParseExpr(text)
	if err != nil {
		t.failed = fmt.Errorf("a variable of the type %s cannot outlive its cell: %w", text, err)
		return ""
	}
	var edits []edit
	replace := func(n ast.Node, text string) { edits = append(edits, edit{int(n.Pos()) - 1, int(n.End()) - 1, text}) }
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			p, name := packages[x.Name], n.Sel.Name
			switch {
			case p == nil: // unsafe.Pointer
				t.named[x.Name] = x.Name
			case p.Path() == ourPath && p.Scope().Lookup(name) != nil:
				replace(n, t.refer(p.Scope().Lookup(name)))
			case p.Path() == ourPath, !n.Sel.IsExported():
				t.failed = fmt.Errorf("a variable of the type %s cannot outlive its cell, since only its package can name that type: give the variable an interface for its type, or put the statement into a function", Plain(types.TypeString(typ, nil)))
			}
			return false
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, id := range f.Names {
					if id.Name != "_" {
						replace(id, exported(id.Name))
					}
				}
				if f.Tag == nil && slices.ContainsFunc(f.Names, isHidden) {
					edits = append(edits, edit{int(f.End()) - 1, int(f.End()) - 1, " " + hiddenTag})
				}
			}
		case *ast.InterfaceType:
			for _, f := range n.Methods.List {
				for _, id := range f.Names {
					replace(id, exported(id.Name))
				}
			}
		}
		return true
	})
	return apply(text, edits, 0, len(text))
}

func isHidden(id *ast.Ident) bool { return !id.IsExported() && id.Name != "_" }

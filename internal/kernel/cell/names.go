package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// Names of ours in translated cells. The first makes a name exported, so that later cells see it; programs print it, and
// [Plain] takes it away again. The second begins names that no cell can have.
const (
	up  = "Ʇ"
	our = "ʇ"
)

// FlagsFunction parses the program's arguments.
const FlagsFunction = our + "flags"

var added = regexp.MustCompile(up + `|` + our + `(\d+\.)?`)

// Plain returns a program's text without what translation adds to names.
func Plain(text string) string { return added.ReplaceAllString(text, "") }

func exported(name string) string {
	if token.IsExported(name) || name == "_" || strings.HasPrefix(name, our) {
		return name
	}
	return up + name
}

// hiddenTag keeps a field that is exported only by translation out of JSON.
const hiddenTag = "`json:\"-\"`"

// export writes the names in a part in the form in which other cells see them. Go's own names stay, unless the cell or the
// notebook declares them: what is in reach of neither is a field or a method.
func (c *Cell) export(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		if types.Universe.Lookup(n.Name) == nil || n.Obj != nil && n.Obj != free || c.knows(n.Name) {
			n.Name = exported(n.Name)
		}
	case *ast.SelectorExpr:
		n.Sel.Name = exported(n.Sel.Name)
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok && !slices.Contains([]string{"true", "false", "nil", "iota"}, id.Name) {
			id.Name = exported(id.Name)
		}
	case *ast.FuncDecl:
		if n.Recv != nil {
			n.Name.Name = exported(n.Name.Name)
		}
	case *ast.StructType:
		for _, f := range n.Fields.List {
			if f.Tag == nil && slices.ContainsFunc(f.Names, isHidden) {
				f.Tag = &ast.BasicLit{Kind: token.STRING, Value: hiddenTag}
			}
		}
	case *ast.Field:
		for _, id := range n.Names {
			id.Name = exported(id.Name)
		}
	}
	return true
}

func isHidden(id *ast.Ident) bool { return !id.IsExported() && id.Name != "_" }

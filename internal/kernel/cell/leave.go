package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/types/typeutil"
)

// A panic in a goroutine that a library has started ends the process, and with it the state of all
// cells. So each function that can leave a cell defers a guard: a function literal, a method that
// an interface of a library can have, a goroutine; and what stands for a declared function where
// its value is used. Calls by name, as in a recursion, cost nothing.
//
// guardLeaving returns a function or a statement with guards. leaves says whether a function can
// leave the cell itself.
func (c *Cell) guardLeaving(n ast.Node, leaves bool) ast.Node {
	goes := map[*ast.FuncLit]bool{} // of go statements
	return astutil.Apply(n, func(at *astutil.Cursor) bool {
		if n, ok := at.Node().(*ast.GoStmt); ok {
			if f, ok := ast.Unparen(n.Call.Fun).(*ast.FuncLit); ok {
				goes[f] = true
			}
		}
		return true
	}, func(at *astutil.Cursor) bool {
		switch n := at.Node().(type) {
		case *ast.FuncLit:
			call, _ := at.Parent().(*ast.CallExpr)
			if here := call != nil && call.Fun == n && !goes[n]; !here && !c.staysLocal(n, at.Parent()) {
				c.begins(n.Body, true)
			}
		case *ast.FuncDecl:
			c.begins(n.Body, leaves)
		case *ast.GoStmt:
			if _, ok := ast.Unparen(n.Call.Fun).(*ast.FuncLit); !ok {
				at.Replace(c.guarded(n))
			}
		case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr:
			if e := n.(ast.Expr); c.isFuncValue(e, at) {
				at.Replace(c.standIn(e))
			}
		}
		return true
	})
}

// escaping are the local variables whose values can leave the cell: those that are used for more
// than to be called or set.
func (c *Cell) escaping() map[types.Object]bool {
	escaping := map[types.Object]bool{}
	for _, p := range c.parts {
		astutil.Apply(p.node, func(at *astutil.Cursor) bool {
			id, ok := at.Node().(*ast.Ident)
			if !ok || c.info.Uses[id] == nil {
				return true
			}
			call, calls := at.Parent().(*ast.CallExpr)
			set, sets := at.Parent().(*ast.AssignStmt)
			if !(calls && call.Fun == id) && !(sets && slices.Contains(set.Lhs, ast.Expr(id))) {
				escaping[c.info.Uses[id]] = true
			}
			return true
		}, nil)
		ast.Inspect(p.node, func(n ast.Node) bool {
			if n, ok := n.(*ast.GoStmt); ok {
				if id, ok := n.Call.Fun.(*ast.Ident); ok {
					escaping[c.info.Uses[id]] = true
				}
			}
			return true
		})
	}
	return escaping
}

// staysLocal says whether a function is the value of a local variable that is only called.
func (c *Cell) staysLocal(f *ast.FuncLit, parent ast.Node) bool {
	set, ok := parent.(*ast.AssignStmt)
	if !ok || len(set.Lhs) != len(set.Rhs) {
		return false
	}
	id, ok := set.Lhs[slices.Index(set.Rhs, ast.Expr(f))].(*ast.Ident)
	if !ok {
		return false
	}
	o := c.info.Defs[id]
	if o == nil {
		o = c.info.Uses[id]
	}
	return o != nil && o.Parent() != nil && o.Pkg() == c.pkg && o.Parent() != c.scope && !c.escapes[o]
}

// begins has a function begin with the question whether its cell was stopped, and before that with
// a guard if it can leave the cell.
func (c *Cell) begins(b *ast.BlockStmt, leaves bool) {
	b.List = append([]ast.Stmt{c.halts("Stopped")}, b.List...)
	if leaves {
		b.List = append([]ast.Stmt{text(c.guardText())}, b.List...)
	}
}

// guardText is a function of the cell, by whose name [rt.Guard] finds the one that defers it.
func (c *Cell) guardText() string {
	return fmt.Sprintf("defer func() { if %[1]sp := recover(); %[1]sp != nil { %[2]s.Guard(%[3]d, %[1]sp) } }()", our,
		runtimeName, c.ID)
}

// text is a statement that is written already.
func text(code string) ast.Stmt { return &ast.ExprStmt{X: ast.NewIdent(code)} }

// isFuncValue says whether an expression is the value of a function or a method that a cell has
// declared.
func (c *Cell) isFuncValue(e ast.Expr, at *astutil.Cursor) bool {
	switch parent := at.Parent().(type) {
	case *ast.CallExpr:
		if parent.Fun == e {
			return false
		}
	case *ast.SelectorExpr, *ast.FuncDecl:
		return false
	case *ast.IndexExpr:
		if parent.X == e {
			return false
		}
	case *ast.IndexListExpr:
		if parent.X == e {
			return false
		}
	}
	name := e
	switch x := e.(type) {
	case *ast.IndexExpr:
		name = x.X
	case *ast.IndexListExpr:
		name = x.X
	}
	if s, ok := name.(*ast.SelectorExpr); ok {
		name = s.Sel
	}
	id, _ := name.(*ast.Ident)
	f, ok := c.info.Uses[id].(*types.Func)
	return ok && f.Pkg() != nil && f.Pkg().Path() == Path && c.same[f] == nil && c.info.Types[e].IsValue()
}

// hidden finds names that only other packages can write.
var hidden = regexp.MustCompile("\x00[^.]*\\.[a-z_]")

// standIn is a function that calls the one that is the value of an expression. If its type can't be
// written, it is that itself.
func (c *Cell) standIn(e ast.Expr) ast.Expr {
	sig, ok := c.info.TypeOf(e).Underlying().(*types.Signature)
	if !ok {
		return e
	}
	foreign := func(p *types.Package) string {
		if p == c.pkg {
			return ""
		}
		return "\x00" + p.Name()
	}
	if hidden.MatchString(types.TypeString(sig, foreign)) {
		return e
	}
	params, args := make([]string, sig.Params().Len()), make([]string, sig.Params().Len())
	for i := range params {
		args[i] = fmt.Sprint(our, "a", i)
		t := sig.Params().At(i).Type()
		if params[i] = args[i] + " " + c.typeOf(t); sig.Variadic() && i == len(params)-1 {
			params[i] = args[i] + " ..." + c.typeOf(t.(*types.Slice).Elem())
			args[i] += "..."
		}
	}
	results := make([]string, sig.Results().Len())
	back := ""
	for i := range results {
		results[i], back = c.typeOf(sig.Results().At(i).Type()), "return "
	}
	form := fmt.Sprintf("func(%s) (%s)", strings.Join(params, ", "), strings.Join(results, ", "))
	code := fmt.Sprintf("func(%[1]sf %[2]s) %[2]s { return %[2]s { %[3]s; %[4]s%[1]sf(%[5]s) } }",
		our, form, c.guardText(), back, strings.Join(args, ", "))
	return &ast.CallExpr{Fun: &ast.Ident{NamePos: e.Pos(), Name: code}, Args: []ast.Expr{e}, Rparen: e.End()}
}

// guarded is a go statement whose goroutine has a function of the cell, with a guard, around what
// is called. Functions and values are those of when the statement runs.
func (c *Cell) guarded(g *ast.GoStmt) ast.Stmt {
	block := &ast.BlockStmt{Lbrace: g.Go}
	keep := func(e ast.Expr) (kept []ast.Expr) {
		tv, n := c.info.Types[e], 1
		if t, ok := tv.Type.(*types.Tuple); ok {
			n = t.Len()
		}
		if tv.Type == nil || tv.Value != nil || tv.IsNil() || tv.IsBuiltin() {
			return []ast.Expr{e}
		}
		for i := range n {
			kept = append(kept, &ast.Ident{NamePos: e.Pos(), Name: fmt.Sprint(our, "v", len(block.List), our, i)})
		}
		block.List = append(block.List, &ast.AssignStmt{TokPos: e.Pos(), Tok: token.DEFINE, Lhs: kept, Rhs: []ast.Expr{e}})
		return kept
	}
	call := *g.Call
	if f, ok := typeutil.Callee(c.info, &call).(*types.Func); !ok || f.Signature().Recv() != nil {
		call.Fun = keep(call.Fun)[0]
	}
	call.Args = nil
	for _, arg := range g.Call.Args {
		call.Args = append(call.Args, keep(arg)...)
	}
	body := &ast.BlockStmt{Lbrace: g.Go, List: []ast.Stmt{text(c.guardText()), &ast.ExprStmt{X: &call}}, Rbrace: g.End()}
	f := &ast.FuncLit{Type: &ast.FuncType{Func: g.Go, Params: &ast.FieldList{Opening: g.Go, Closing: g.Go}}, Body: body}
	block.List = append(block.List, &ast.GoStmt{Go: g.Go, Call: &ast.CallExpr{Fun: f, Lparen: g.End(), Rparen: g.End()}})
	block.Rbrace = g.End()
	return block
}

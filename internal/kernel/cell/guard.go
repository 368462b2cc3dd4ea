package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// call calls a function that has no place in the cell.
func call(name string, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: ast.NewIdent(name), Args: args}
}

// ours is something of ours in the place of a node of the cell.
func ours(name string, at ast.Node) ast.Expr { return &ast.Ident{NamePos: at.Pos(), Name: name} }

// within calls a function of the runtime with an expression of the cell, in its place.
func within(name string, e ast.Expr, more ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: ours(runtimeName+"."+name, e), Args: append([]ast.Expr{e}, more...)}
}

// checkpoint is a statement that ends the goroutine if its cell was stopped.
func checkpoint() ast.Stmt { return &ast.ExprStmt{X: call(runtimeName + ".Check")} }

func interruptible(b *ast.BlockStmt) {
	if b != nil { // as in a function in assembler
		b.List = append([]ast.Stmt{checkpoint()}, b.List...)
	}
}

// guard keeps the cell's own code from ending the program that all cells share, and lets the user stop it: loops and
// functions ask whether they were stopped, panics in goroutines end the cell, and so do os.Exit and log.Fatal, which panics.
func (c *Cell) guard(n ast.Node) {
	switch n := n.(type) {
	case *ast.ForStmt:
		interruptible(n.Body)
	case *ast.RangeStmt:
		interruptible(n.Body)
	case *ast.FuncDecl:
		interruptible(n.Body)
	case *ast.GoStmt:
		_, generic := c.info.Instances[named(n.Call.Fun)] // of one, the type is known only where it is called
		if c.info.Types[n.Call.Fun].IsValue() && !generic {
			n.Call.Fun = within("Guard", n.Call.Fun, ast.NewIdent(our+"frame"))
		}
	case *ast.SelectorExpr:
		switch f, ok := c.info.Uses[n.Sel].(*types.Func); {
		case ok && f.FullName() == "os.Exit":
			n.X, n.Sel = ours(runtimeName, n), ast.NewIdent(f.Name())
		case ok && f.Pkg() != nil && f.Pkg().Path() == "log":
			n.Sel.Name = strings.Replace(n.Sel.Name, "Fatal", "Panic", 1)
		}
	case *ast.CallExpr:
		c.guardCall(n)
	}
}

// guardCall has what is called with the standard input ask the user: elsewhere os.Stdin is what it is, empty. It lets a cell that
// runs again declare its flags again.
func (c *Cell) guardCall(call *ast.CallExpr) {
	name, pkg := callee(c.info, call)
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && pkg == "fmt" && strings.HasPrefix(name, "Scan") {
		f.Sel.Name = "F" + strings.ToLower(name)
		call.Args = append([]ast.Expr{ours(stdin, call)}, call.Args...)
	}
	for i, arg := range call.Args {
		switch a := arg.(type) {
		case *ast.SelectorExpr:
			if c.info.Uses[a.Sel] != nil && Plain(types.ExprString(a)) == "os.Stdin" {
				call.Args[i] = ours(stdin, a)
			}
		case *ast.BasicLit:
			if pkg == "flag" && len(call.Args) > 2 && a.Kind == token.STRING { // a flag, of which this is the name
				c.begin = append(c.begin, runtimeName+".ForgetFlag("+a.Value+")")
				return
			}
		}
	}
}

const stdin = runtimeName + ".Stdin"

// show shows the value of the cell's last expression. What a function of package fmt returns is nobody's result, and neither
// is what is received or written.
func (c *Cell) show(s *ast.ExprStmt) {
	if s == nil {
		return
	}
	tv, by := c.info.Types[s.X], "Show"
	tuple, several := tv.Type.(*types.Tuple)
	if several && tuple.Len() == 0 || !several && !tv.IsValue() {
		return
	}
	switch e := ast.Unparen(s.X).(type) {
	case *ast.CallExpr:
		name, pkg := callee(c.info, e)
		if pkg == "fmt" && !strings.HasPrefix(name, "S") && name != "Errorf" || slices.Contains(silent, name) {
			return
		}
		if several || types.TypeString(tv.Type, nil) == "error" {
			if strings.HasSuffix(pkg, "viz/nb") {
				return // it has said its error
			}
			by = "ShowAll" // of which an error that is nil is not worth a line
		}
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			return
		}
	}
	s.X = within(by, s.X)
}

// silent are functions of which nobody wants to see what they return.
var silent = []string{"Write", "WriteString", "Close", "Flush", "copy", "recover"}

// callee returns the name and the package of the function that is called.
func callee(info *types.Info, call *ast.CallExpr) (name, pkg string) {
	if o := info.Uses[named(call.Fun)]; o != nil {
		name = o.Name()
		if o.Pkg() != nil {
			pkg = o.Pkg().Path()
		}
	}
	return name, pkg
}

// named is the last name of what is called, if it has one.
func named(f ast.Expr) *ast.Ident {
	switch f := ast.Unparen(f).(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}

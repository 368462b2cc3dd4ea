package cell

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// ours is something of ours in the place of a node of the cell.
func ours(name string, at ast.Node) ast.Expr {
	return &ast.Ident{NamePos: at.Pos(), Name: runtimeName + name}
}

// calls is a statement that calls a function.
func calls(name string) ast.Stmt { return &ast.ExprStmt{X: ast.NewIdent(name + "()")} }

// check ends the goroutine if its cell was stopped.
const check = runtimeName + ".Check"

func interruptible(b *ast.BlockStmt) {
	if b != nil { // as in a function in assembler
		b.List = append([]ast.Stmt{calls(check)}, b.List...)
	}
}

// rewrite writes names from outside of functions as the translation must. It keeps the cell's own code from ending the program
// that all cells share, and lets the user stop it: loops and functions ask whether they were stopped, panics in goroutines end
// the cell, and so do os.Exit and log.Fatal, which panics.
func (c *Cell) rewrite(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ForStmt:
		interruptible(n.Body)
	case *ast.RangeStmt:
		interruptible(n.Body)
	case *ast.FuncDecl:
		interruptible(n.Body)
	case *ast.GoStmt:
		f, _ := typeutil.Callee(c.info, n.Call).(*types.Func)
		generic := f != nil && f.Signature().TypeParams().Len() > 0 // whose type is known only where it is called
		if c.info.Types[n.Call.Fun].IsValue() && !generic {
			n.Call.Fun = &ast.CallExpr{Fun: ours(".Guard", n), Args: []ast.Expr{n.Call.Fun, ast.NewIdent(our + "frame")}}
		}
	case *ast.CallExpr:
		c.guardCall(n)
	case *ast.SelectorExpr:
		f, isFunc := c.info.Uses[n.Sel].(*types.Func)
		if isFunc && f.Pkg() != nil && f.Pkg().Path() == "log" {
			n.Sel.Name = strings.Replace(n.Sel.Name, "Fatal", "Panic", 1)
		}
		x, _ := n.X.(*ast.Ident)
		if p, ok := c.info.Uses[x].(*types.PkgName); ok {
			if x.Name = runtimeName; !isFunc || f.FullName() != "os.Exit" {
				x.Name = c.qualifier(p.Imported())
			}
			return false
		}
	case *ast.Ident:
		o := cmp.Or(c.info.Uses[n], c.info.Defs[n]) // an embedded type is both
		if o == nil || o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
			return true
		}
		n.Name = c.nameOf(o)
		if c.inFunc {
			c.nb.inFuncs[o.Name()] = true
		}
		if c.same[o] != nil && kindOf(c.same[o]) != kindOf(o) { // a call stands for ctx
			n.Name += "()"
		}
	}
	return true
}

// guardCall has what is called with the standard input ask the user: elsewhere os.Stdin is what it is, empty. It lets a cell that
// runs again declare its flags again.
func (c *Cell) guardCall(call *ast.CallExpr) {
	name, pkg := c.callee(call)
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && pkg == "fmt" && strings.HasPrefix(name, "Scan") {
		x, _ := f.X.(*ast.Ident)
		if _, ok := c.info.Uses[x].(*types.PkgName); ok { // and no fmt.Scanner
			f.Sel.Name = "F" + strings.ToLower(name)
			call.Args = append([]ast.Expr{ours(".Stdin", call)}, call.Args...)
		}
	}
	for i, arg := range call.Args {
		switch a := arg.(type) {
		case *ast.SelectorExpr:
			if c.info.Uses[a.Sel] != nil && Plain(types.ExprString(a)) == "os.Stdin" {
				call.Args[i] = ours(".Stdin", a)
			}
		case *ast.BasicLit:
			if pkg == "flag" && len(call.Args) > 2 && a.Kind == token.STRING { // a flag, of which this is the name
				c.begin = append(c.begin, runtimeName+".ForgetFlag("+a.Value+")")
				return
			}
		}
	}
}

// show shows the value of the cell's last expression. What a function of package fmt returns is nobody's result, and neither
// is what is received or written.
func (c *Cell) show(s *ast.ExprStmt) {
	tv, by := c.info.Types[s.X], ".Show"
	_, several := tv.Type.(*types.Tuple)
	switch e := ast.Unparen(s.X).(type) {
	case *ast.CallExpr:
		name, pkg := c.callee(e)
		mayFail := several || types.TypeString(tv.Type, nil) == "error"
		switch {
		case pkg == "fmt" && !strings.HasPrefix(name, "S") && name != "Errorf", slices.Contains(silent, name):
			return
		case mayFail && strings.HasSuffix(pkg, "viz/nb"): // it has said its error
			return
		case mayFail:
			by = ".ShowAll" // of which an error that is nil is not worth a line
		}
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			return
		}
	}
	if tv.IsValue() {
		s.X = &ast.CallExpr{Fun: ours(by, s), Args: []ast.Expr{s.X}}
	}
}

// silent are functions of which nobody wants to see what they return.
var silent = []string{"Write", "WriteString", "Close", "Flush", "copy", "recover"}

// callee returns the name and the package of the function that is called.
func (c *Cell) callee(call *ast.CallExpr) (name, pkg string) {
	o := typeutil.Callee(c.info, call)
	if o != nil && o.Pkg() != nil {
		pkg = o.Pkg().Path()
	}
	if o != nil {
		name = o.Name()
	}
	return name, pkg
}

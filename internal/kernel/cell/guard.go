package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// guard keeps the cell's own code from ending the program that all cells share, and lets the user stop it: loops and
// functions ask whether they were stopped, panics in goroutines end the cell, and so do os.Exit and log.Fatal.
func (t *translation) guard() {
	ast.Inspect(t.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			t.insert(n.Body.Lbrace+1, our+"rt.Check();")
		case *ast.RangeStmt:
			t.insert(n.Body.Lbrace+1, our+"rt.Check();")
		case *ast.FuncDecl:
			if n.Body != nil && n.Name.Name != our+"run" {
				t.insert(n.Body.Lbrace+1, our+"rt.Check();")
			}
		case *ast.GoStmt:
			t.guardGo(n)
		case *ast.SelectorExpr:
			if f, ok := t.info.Uses[n.Sel].(*types.Func); ok && f.Pkg() != nil {
				if by, ok := ends[f.FullName()]; ok {
					t.replace(n.Pos(), n.End(), our+"rt."+by)
				}
			}
		case *ast.CallExpr:
			t.guardInput(n)
			t.forgetFlag(n)
		}
		return true
	})
}

// ends are functions that would end or hold all cells, and what stands for them.
var ends = map[string]string{
	"os.Exit": "Exit", "log.Fatal": "Fatal", "log.Fatalln": "Fatalln", "log.Fatalf": "Fatalf",
	"fmt.Scan": "Scan", "fmt.Scanln": "Scanln", "fmt.Scanf": "Scanf", // which ask the user
}

// forgetFlag lets a cell that runs again declare its flags again.
func (t *translation) forgetFlag(call *ast.CallExpr) {
	if _, pkg := callee(t.info, call); pkg != "flag" {
		return
	}
	for _, arg := range call.Args[:min(2, len(call.Args))] {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			t.begin = append(t.begin, our+"rt.ForgetFlag("+lit.Value+")")
			return
		}
	}
}

// guardInput has readers of the standard input ask the user. As a file, os.Stdin stays what it is: empty.
func (t *translation) guardInput(call *ast.CallExpr) {
	sig, ok := t.info.TypeOf(call.Fun).(*types.Signature)
	if !ok {
		return
	}
	for i, arg := range call.Args {
		sel, ok := arg.(*ast.SelectorExpr)
		if !ok || i >= sig.Params().Len() || types.TypeString(sig.Params().At(i).Type(), nil) != "io.Reader" {
			continue
		}
		if v, ok := t.info.Uses[sel.Sel].(*types.Var); ok && v.Pkg() != nil && v.Pkg().Path() == "os" && v.Name() == "Stdin" {
			t.replace(sel.Pos(), sel.End(), our+"rt.Stdin")
		}
	}
}

func (t *translation) guardGo(n *ast.GoStmt) {
	f := ast.Unparen(n.Call.Fun)
	if tv, ok := t.info.Types[f]; !ok || tv.IsBuiltin() || tv.IsType() {
		return
	}
	if sig, ok := t.info.TypeOf(f).Underlying().(*types.Signature); !ok || sig.TypeParams().Len() > 0 {
		return
	}
	if id, ok := f.(*ast.Ident); ok { // the type of a generic function is known only where it is called
		if o, ok := t.info.Uses[id].(*types.Func); ok && o.Signature().TypeParams().Len() > 0 {
			return
		}
	}
	t.insert(n.Call.Fun.Pos(), our+"rt.Guard(")
	t.insert(n.Call.Fun.End(), ")")
}

// show shows the value of the cell's last expression. What a function of package fmt returns is nobody's result, and neither
// is what is received or written.
func (t *translation) show(e ast.Expr) {
	tv, ok := t.info.Types[e]
	if !ok || tv.IsVoid() || tv.IsType() {
		return
	}
	by := "Show"
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		name, pkg := callee(t.info, e)
		if pkg == "fmt" && !strings.HasPrefix(name, "S") && name != "Errorf" || slices.Contains([]string{"Write", "WriteString", "Close", "Flush", "copy", "recover"}, name) {
			return
		}
		if _, tuple := tv.Type.(*types.Tuple); tuple || types.TypeString(tv.Type, nil) == "error" {
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
	t.insert(e.Pos(), our+"rt."+by+"(")
	t.insert(e.End(), ")")
}

// callee returns the name and the package of the function that is called.
func callee(info *types.Info, call *ast.CallExpr) (name, pkg string) {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return "", ""
	}
	if o := info.Uses[id]; o != nil && o.Pkg() != nil {
		return o.Name(), o.Pkg().Path()
	}
	return id.Name, ""
}

package cell

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// ours is something of ours in the place of a node of the cell.
func ours(name string, at ast.Node) ast.Expr {
	return &ast.Ident{NamePos: at.Pos(), Name: runtimeName + name}
}

// calls is a statement that calls a function.
func calls(name string) ast.Stmt { return text(name + "()") }

// halts is a statement that ends the goroutine if its cell was stopped. It costs a comparison while
// no cell was: "Stopped" while one was just stopped, "Left" as long as one that was stopped may
// wait for something.
func (c *Cell) halts(while string) ast.Stmt {
	return text(fmt.Sprintf("if %[1]s.%[2]s() { %[1]s.Halt(%[3]d) }", runtimeName, while, c.ID))
}

// interruptible has a loop end with its cell. One that waits for others looks for longer whether it
// was stopped.
func (c *Cell) interruptible(loop ast.Node, b *ast.BlockStmt) {
	while := "Stopped"
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				while = "Left"
			}
		case *ast.RangeStmt:
			if t := c.info.TypeOf(n.X); t != nil {
				if _, ok := t.Underlying().(*types.Chan); ok {
					while = "Left"
				}
			}
		case *ast.SendStmt, *ast.SelectStmt:
			while = "Left"
		case *ast.CallExpr:
			if _, pkg := c.callee(n); pkg != "" && !strings.HasPrefix(pkg, "math") && pkg != Path {
				while = "Left"
			}
		}
		return true
	})
	b.List = append([]ast.Stmt{c.halts(while)}, b.List...)
}

// rewrite writes names from outside of functions as the translation must. It keeps the cell's own
// code from ending the program that all cells share, and lets the user stop it: loops and functions
// ask whether they were stopped, and os.Exit and log.Fatal panic, which ends the cell; see also
// guardLeaving.
func (c *Cell) rewrite(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ForStmt:
		c.interruptible(n, n.Body)
	case *ast.RangeStmt:
		c.interruptible(n, n.Body)
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
		if f, ok := c.info.Defs[n].(*types.Var); ok && f.Embedded() && packagePath(o) == Path { // whose name stays
			c.code.fields[n.Name] = c.entity(o)
			return true
		}
		n.Name = c.nameOf(o)
		if c.same[o] != nil && kindOf(c.same[o]) != kindOf(o) { // a call stands for ctx
			n.Name += fmt.Sprintf("(%d)", c.ID)
		}
	}
	return true
}

// guardCall has what is called with the standard input ask the user: elsewhere os.Stdin is what it
// is, empty. It lets a cell that runs again declare its flags again.
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
			if c.isStdin(a) {
				call.Args[i] = ours(".Stdin", a)
			}
		case *ast.BasicLit:
			if pkg == "flag" && len(call.Args) > 2 && a.Kind == token.STRING { // a flag, of which this is the name
				c.flags = append(c.flags, runtimeName+".ForgetFlag("+a.Value+")")
				return
			}
		}
	}
}

func (c *Cell) isStdin(s *ast.SelectorExpr) bool {
	o := c.info.Uses[s.Sel]
	return o != nil && o.Name() == "Stdin" && packagePath(o) == "os"
}

// show has a statement show its value, if it is one of the last of the cell, and not if it is
// measured many times or ends in a semicolon. Of these the error ends the cell, too.
func (c *Cell) show(s *ast.ExprStmt, p part) {
	tv, by := c.info.Types[s.X], c.shownBy(s)
	last := slices.Contains(c.last, s)
	switch {
	case !tv.IsValue() || isCommand(s):
	case p.measured == "timeit" || c.source.measured[0] == "timeit":
		s.X = call(".Keep", s, s.X)
	case last && p.hidden && by == ".Show":
		s.X = call(".Keep", s, s.X)
	case last && p.hidden && by == ".ShowAll":
		s.X = call(".Hide", s, s.X)
	case p.measured == "time" && last && by != "":
		all := call(".ShowAll", s, call(".Timed", s, s.X))
		if by == ".Show" {
			all = call(".Show", s, &ast.IndexExpr{X: all.Args[0], Index: &ast.BasicLit{Kind: token.INT, Value: "0"}})
		} else {
			all.Ellipsis = s.End()
		}
		s.X = all
	case p.measured == "time":
		s.X = call(".Timed", s, s.X)
	case last && by != "":
		s.X = call(by, s, c.shownValue(s.X))
	}
}

// call is a call of a function of ours in the place of a statement.
func call(name string, at *ast.ExprStmt, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: ours(name, at), Args: args}
}

// shownValue is an expression, or the text of a constant that no variable can hold.
func (c *Cell) shownValue(x ast.Expr) ast.Expr {
	if v := c.info.Types[x].Value; v != nil && v.Kind() == constant.Int {
		if _, fits := constant.Int64Val(v); !fits && types.Identical(c.info.TypeOf(x), types.Typ[types.UntypedInt]) {
			return &ast.BasicLit{ValuePos: x.Pos(), Kind: token.STRING, Value: strconv.Quote(v.ExactString())}
		}
	}
	return x
}

// shownBy is the function that shows the value of a statement. It is empty for results that nobody
// asked for, such as those of fmt.Println and Write, and a received value.
func (c *Cell) shownBy(s *ast.ExprStmt) string {
	t := c.info.TypeOf(s.X)
	switch e := ast.Unparen(s.X).(type) {
	case *ast.CallExpr:
		name, pkg := c.callee(e)
		_, several := t.(*types.Tuple)
		mayFail := several || t != nil && types.TypeString(t, nil) == "error"
		switch {
		case pkg == "fmt" && !strings.HasPrefix(name, "S") && name != "Errorf", slices.Contains(silent, name),
			mayFail && strings.HasSuffix(pkg, "viz/nb"): // which has said its error
			return ""
		case mayFail:
			return ".ShowAll" // of which an error that is nil is not worth a line
		}
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			return ""
		}
	}
	return ".Show"
}

// measure has statements measured: once, or many times.
func measure(how string, list []ast.Stmt) []ast.Stmt {
	switch {
	case how == "time":
		list = append([]ast.Stmt{calls(runtimeName + ".Begin")}, append(list, calls(runtimeName+".Lap"))...)
	case how == "timeit" && len(list) > 0:
		begin := text(fmt.Sprintf("%[1]s.Timeit(func(%[2]sn int) { for range %[2]sn {", runtimeName, our))
		list = append([]ast.Stmt{begin}, append(list, text("}})"))...)
	}
	return list
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

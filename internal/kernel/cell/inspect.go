package cell

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/tools/go/types/typeutil"
)

// Description is what is known of something: how it is declared, and what its comment says. The
// host knows the value of a variable of the notebook, unless it is lost.
type Description struct {
	Declaration, Doc string
	Variable         string // its name there
	Value            string // that it has no value any more
}

// Inspect describes the name at an offset of a cell, if there is one, and the call around that.
func (nb *Notebook) Inspect(code string, offset int) (list []Description) {
	defer nb.lock()()
	src := Read("In[0]", code)
	if len(src.Go) < len(code) {
		return nil
	}
	begun, in := src.tokensTo(offset)
	start := len(strings.TrimRightFunc(code[:offset], inName))
	end := len(code) - len(strings.TrimLeftFunc(code[offset:], inName))
	switch in {
	case token.COMMENT:
		return nil
	case token.STRING:
		n := len(begun) - 1
		start, end, begun = begun[n].at, begun[n].at, begun[:n]
	}
	for _, d := range []Description{nb.describeName(src, start, end), nb.describeCall(src.Go[:start], begun)} {
		if d.Declaration != "" {
			list = append(list, d)
		}
	}
	return list
}

// describeName describes the name between two offsets, as the whole cell has it or, where that
// doesn't say it, as what stands before it does; or the import of a package whose path begins
// there.
func (nb *Notebook) describeName(src Source, start, end int) Description {
	word := src.Go[start:end]
	c, _ := nb.understand(src, nil, nil)
	if o := c.objectAt(src.place(start)); o != nil {
		return c.describe(o)
	}
	c, list := nb.objectsAt(src, start, word)
	for _, o := range list {
		if o.Name() == word {
			return c.describe(o)
		}
	}
	return Description{}
}

// objectAt is what the name at a place of the cell means, or the path of an import there.
func (c *Cell) objectAt(place token.Position) (o types.Object) {
	isAt := func(n ast.Node) bool {
		at := c.fset.Position(n.Pos())
		return at.Line == place.Line && at.Column == place.Column && at.Filename == place.Filename
	}
	for _, p := range c.parts {
		ast.Inspect(p.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if isAt(n) {
					o = cmp.Or(o, c.objectOf(n))
				}
			case *ast.ImportSpec:
				if name, pkg, err := c.nb.imported(n); err == nil && isAt(n.Path) {
					o = types.NewPkgName(token.NoPos, c.pkg, name, pkg)
				}
			}
			return true
		})
	}
	if o != nil && strings.HasPrefix(o.Name(), our) {
		return c.same[o]
	}
	return o
}

// describeCall describes the function of the call in which a text ends.
func (nb *Notebook) describeCall(text string, begun []word) (d Description) {
	if n := len(begun); n == 0 || !begun[n-1].isOperand() { // else the end of an argument stands there
		text += cursor
	}
	src := Source{File: "In[0]", Go: text}
	c, _ := nb.understand(src, nil, nil)
	end, lines := src.place(len(text)), strings.Split(text, "\n")
	within := func(p token.Pos) bool { // the parser adds what is missing behind the end
		at := c.fset.Position(p)
		return at.Line < end.Line || at.Line == end.Line && at.Column < end.Column
	}
	closed := func(p token.Pos, by byte) bool {
		at := c.fset.Position(p)
		return within(p) && at.Column <= len(lines[at.Line-1]) && lines[at.Line-1][at.Column-1] == by
	}
	var call *ast.CallExpr
	ast.Inspect(c.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !closed(n.Rparen, ')') {
				call = n
			}
		case *ast.BlockStmt:
			if n.Rbrace.IsValid() && !closed(n.Rbrace, '}') {
				call = nil
			}
		}
		return true
	})
	if call == nil {
		return d
	}
	t := c.info.TypeOf(call.Fun)
	if o := typeutil.Callee(c.info, call); o != nil {
		d, t = c.describe(o), cmp.Or(t, o.Type())
	}
	if t == nil || t == types.Typ[types.Invalid] {
		return d
	}
	d.Declaration = cmp.Or(d.Declaration, types.TypeString(t, packageName))
	if s, ok := t.Underlying().(*types.Signature); ok && s.Params().Len() > 1 {
		i := -1
		for _, arg := range call.Args {
			if within(arg.Pos()) {
				i++
			}
		}
		i = max(0, min(i, s.Params().Len()-1))
		d.Declaration += fmt.Sprintf("\n// argument %d: %s", i+1,
			strings.TrimPrefix(types.ObjectString(s.Params().At(i), packageName), "var "))
	}
	return d
}

// describe describes an object that a cell mentions.
func (c *Cell) describe(o types.Object) (d Description) {
	d.Declaration, d.Doc = c.declarationOf(o)
	if v, ok := c.nb.symbols[o.Name()].obj.(*types.Var); ok && (v == o || c.scope.Lookup(o.Name()) == o) {
		if d.Variable = o.Name(); c.nb.lost[o.Name()] != "" {
			d.Value = c.nb.whyLost(o.Name(), o.Name())
		}
	}
	return d
}

func (c *Cell) declarationOf(o types.Object) (declaration, doc string) {
	declaration = types.ObjectString(o, packageName)
	switch o := o.(type) {
	case *types.PkgName:
		return fmt.Sprintf("package %s // import %q", o.Imported().Name(), o.Imported().Path()),
			c.nb.packageDoc(o.Imported())
	case *types.TypeName, *types.Builtin, *types.Nil:
		text, doc := c.find(o)
		return cmp.Or(text, declaration), doc
	case *types.Const:
		if v := o.Val(); v.Kind() != constant.Unknown {
			declaration += " = " + v.String()
		}
	case *types.Func:
		declaration = method(o, packageName)
	}
	if before, ok := c.same[o]; ok { // one of the names that every cell has
		o = before
	}
	_, doc = c.find(o)
	return declaration, doc
}

// method writes a function or a method as it is declared.
func method(f *types.Func, of types.Qualifier) string {
	r := f.Signature().Recv()
	if r == nil {
		return types.ObjectString(f, of)
	}
	return fmt.Sprintf("func (%s) %s%s", types.TypeString(r.Type(), of), f.Name(),
		strings.TrimPrefix(types.TypeString(f.Signature(), of), "func"))
}

// mostLines of a declaration are shown.
const mostLines = 60

// packageDoc is what the source of a package says of it.
func (nb *Notebook) packageDoc(p *types.Package) string {
	for _, name := range p.Scope().Names() {
		if file := nb.file(p.Scope().Lookup(name).Pos()); file != "" {
			return docOf(filepath.Dir(file))
		}
	}
	return ""
}

// file is the file of a position in a package.
func (nb *Notebook) file(at token.Pos) string {
	return strings.Replace(nb.fset.Position(at).Filename, "$GOROOT", nb.root, 1)
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

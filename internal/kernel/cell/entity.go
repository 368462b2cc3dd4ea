package cell

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// All cells are one package for the compiler, and each plugin has the part of it that its cell
// needs. The dynamic linker makes one of the type descriptors of one name, so a declaration must be
// the same wherever it stands: what cells declare has an identifier that nothing else ever has, and
// a text that never changes. A type is called as its cell calls it; one that is declared again gets
// a suffix, since reflection shows its name. Variables and functions live behind pointers that
// package rt keeps, methods are functions that the methods of the type call, so that a new body
// reaches those who call the old one. Other functions of a plugin are its own.

// Path is the import path of the cells' package.
const Path = "nb/main"

// Names of ours. No cell has an identifier that begins so.
const (
	our = "ʇʇ"
	dot = "ꓸ" // a letter, in place of the dot in the name of a method
)

// entity is something that cells have declared.
type entity struct {
	code
	id     string
	body   *code     // of a function, or of a method that its type calls: the newest one
	values bool      // it is a type that values can have: neither generic nor a constraint
	params [2]string // of a generic type: as it declares and as it uses them
}

// code is a text of Go with what it needs in its package.
type code struct {
	name     string // of a function
	text     string
	entities map[*entity]bool
	packages map[string]bool    // by path: true if the text uses the package, false if the cell only imports it
	fields   map[string]*entity // types that the text embeds, by the names of the fields; see embedded
	locals   int                // how many types inside functions it declares
	first    int                // the number of the first one
}

func newCode() code {
	return code{entities: map[*entity]bool{}, packages: map[string]bool{}, fields: map[string]*entity{}}
}

// within translates something into code.
func (c *Cell) within(k *code, do func()) {
	outer := c.code
	c.code = k
	do()
	c.code = outer
}

// entity returns the entity of an object in the cells' package, and makes one for an object that
// the cell declares.
func (c *Cell) entity(o types.Object) *entity {
	e := c.nb.entities[o]
	if e == nil {
		e = &entity{code: newCode(), id: c.identifier(o)}
		c.nb.entities[o] = e
		c.made = append(c.made, e)
		c.within(&e.code, func() { e.text = c.declaration(o, e) })
	}
	c.code.entities[e] = true
	return e
}

// identifier returns a name for o that nothing else has that is loaded in a process of the
// notebook.
func (c *Cell) identifier(o types.Object) string {
	name, isType := o.Name(), false
	if t, ok := o.(*types.TypeName); ok && !t.IsAlias() {
		isType = true
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		name = baseOf(f).Obj().Name() + dot + name
	}
	for n := 0; ; n++ {
		id := fmt.Sprint(our, name, "_", n)
		if isType {
			id = name
			if n > 0 || types.Universe.Lookup(name) != nil {
				id += "ʹ"
			}
			if n > 1 {
				id += strconv.Itoa(n)
			}
		}
		taken := c.nb.ids[id] || slices.ContainsFunc(c.made, func(e *entity) bool { return e.id == id })
		if !taken {
			return id
		}
	}
}

// declared is the syntax of a function of the cell.
func (c *Cell) declared(o *types.Func) *ast.FuncDecl {
	for _, p := range c.parts {
		if f, ok := p.node.(*ast.FuncDecl); ok && c.info.Defs[f.Name] == o {
			return f
		}
	}
	return nil
}

// baseOf is the type that a method belongs to.
func baseOf(f *types.Func) *types.Named {
	t := types.Unalias(f.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, _ := t.(*types.Named)
	return named.Origin()
}

// declaration is the text of an entity.
func (c *Cell) declaration(o types.Object, e *entity) string {
	switch o := o.(type) {
	case *types.Const:
		t := ""
		if b, ok := o.Type().(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
			t = c.typeOf(o.Type())
		}
		return fmt.Sprintf("const %s %s = %s", e.id, t, literal(o.Val(), o.Type()))
	case *types.TypeName:
		if o.IsAlias() {
			return c.alias(o, e)
		}
		return c.definition(o, e)
	case *types.Func:
		if f := c.declared(o); f != nil && o.Signature().Recv() == nil && o.Signature().TypeParams().Len() > 0 {
			c.adapt(f, false)
			f.Name = ast.NewIdent(e.id)
			c.count(f)
			return c.print(f)
		}
		signature := o.Signature()
		if r := signature.Recv(); r != nil {
			params := slices.Concat([]*types.Var{types.NewVar(token.NoPos, o.Pkg(), "", r.Type())},
				slices.Collect(signature.Params().Variables()))
			signature = types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), signature.Results(),
				signature.Variadic())
		}
		return c.variable(o, e.id, signature)
	case *types.Var:
		return c.variable(o, e.id, o.Type())
	}
	panic("cell: no declaration of " + o.String())
}

// variable declares a pointer to a variable, or to what another one has become.
func (c *Cell) variable(o types.Object, id string, t types.Type) string {
	form := "var %s = %[2]s.Var(%[3]q, func() any { return new(%[4]s) }).(*%[4]s)"
	memory := id
	for c.nb.moved[o] != nil {
		o = c.nb.moved[o]
		memory = c.nb.entities[o].id
		form = "var %s = (*%[4]s)(%[2]s.Pointer(%[3]q, func() any { return new(%[4]s) }))"
	}
	return fmt.Sprintf(form, id, runtimeName, memory, c.typeOf(t))
}

// literal writes the value of a constant of a type.
func literal(v constant.Value, t types.Type) string {
	switch b, _ := t.Underlying().(*types.Basic); {
	case b.Info()&types.IsComplex != 0:
		re, im := constant.Real(v), constant.Imag(v)
		return literal(re, types.Typ[types.UntypedFloat]) + " + (" + literal(im, types.Typ[types.UntypedFloat]) + ")*1i"
	case b.Info()&types.IsFloat != 0:
		num, denom := constant.Num(v), constant.Denom(v)
		if num.Kind() == constant.Int && denom.Kind() == constant.Int {
			return num.ExactString() + ".0 / " + denom.ExactString() + ".0"
		}
	case b.Kind() == types.UntypedRune:
		return "'\\x00' + " + v.ExactString()
	}
	return v.ExactString()
}

// definition declares a type with its methods.
func (c *Cell) definition(o *types.TypeName, e *entity) string {
	named := o.Type().(*types.Named)
	if e.id == o.Name() {
		e.fields[e.id] = e
	}
	e.params, e.values = c.params(named.TypeParams()), hasValues(o)
	text := fmt.Sprintf("type %s%s %s\n", e.id, e.params[0], c.typeOf(named.Underlying()))
	for _, p := range c.parts {
		f, isFunc := p.node.(*ast.FuncDecl)
		if p.of != o.Name() || p.body || !isFunc {
			continue
		}
		m, _ := c.info.Defs[f.Name].(*types.Func)
		switch {
		case m == nil || m.Name() == "_":
		case p.fixed:
			c.adapt(f, token.IsExported(m.Name()))
			c.count(f)
			text += c.print(f) + "\n"
		default:
			text += "//line " + our + ":1\n" + c.forward(m) + "\n"
		}
	}
	return text
}

// forward declares a method that calls a function.
func (c *Cell) forward(m *types.Func) string {
	s := m.Signature()
	params, args := "", "r"
	for i := range s.Params().Len() {
		t := s.Params().At(i).Type()
		params += fmt.Sprintf("a%d %s, ", i, c.param(t, s.Variadic() && i == s.Params().Len()-1))
		args += fmt.Sprintf(", a%d", i)
	}
	if s.Variadic() {
		args += "..."
	}
	call := fmt.Sprintf("(*%s)(%s)", c.entity(m).id, args)
	if s.Results().Len() > 0 {
		call = "return " + call
	}
	name := m.Name()
	return fmt.Sprintf("func (r %s) %s(%s) %s { %s }", c.typeOf(s.Recv().Type()), name, params,
		c.tuple(s.Results(), false), call)
}

func (c *Cell) alias(o *types.TypeName, e *entity) string {
	a, _ := o.Type().(*types.Alias)
	if a == nil {
		return fmt.Sprintf("type %s = %s", e.id, c.typeOf(o.Type()))
	}
	e.params = c.params(a.TypeParams())
	return fmt.Sprintf("type %s%s = %s", e.id, e.params[0], c.typeOf(a.Rhs()))
}

// params writes type parameters as a declaration has them and as arguments.
func (c *Cell) params(list *types.TypeParamList) (text [2]string) {
	if list.Len() == 0 {
		return text
	}
	var declared, used []string
	for p := range list.TypeParams() {
		declared = append(declared, p.Obj().Name()+" "+c.typeOf(p.Constraint()))
		used = append(used, p.Obj().Name())
	}
	return [2]string{"[" + strings.Join(declared, ", ") + "]", "[" + strings.Join(used, ", ") + "]"}
}

// typeOf writes a type.
func (c *Cell) typeOf(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return c.qualifier(types.Unsafe) + ".Pointer"
		}
		return t.Name()
	case *types.Alias:
		o := t.Obj()
		if packagePath(o) == Path || !o.Exported() && o.Pkg() != nil {
			return c.typeOf(types.Unalias(t))
		}
		return c.typeName(o) + c.args(t.TypeArgs())
	case *types.Named:
		return c.typeName(t.Obj()) + c.args(t.TypeArgs())
	case *types.TypeParam:
		return t.Obj().Name()
	case *types.Pointer:
		return "*" + c.typeOf(t.Elem())
	case *types.Slice:
		return "[]" + c.typeOf(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), c.typeOf(t.Elem()))
	case *types.Map:
		return "map[" + c.typeOf(t.Key()) + "]" + c.typeOf(t.Elem())
	case *types.Chan:
		return [...]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()] + "(" +
			c.typeOf(t.Elem()) + ")"
	case *types.Signature:
		return "func" + c.signature(t)
	case *types.Struct:
		return c.structOf(t)
	case *types.Interface:
		return c.interfaceOf(t)
	case *types.Union:
		var terms []string
		for term := range t.Terms() {
			tilde := ""
			if term.Tilde() {
				tilde = "~"
			}
			terms = append(terms, tilde+c.typeOf(term.Type()))
		}
		return strings.Join(terms, " | ")
	}
	panic(fmt.Sprintf("cell: a type %T", t))
}

func (c *Cell) typeName(o *types.TypeName) string {
	switch {
	case o.Pkg() == nil:
		return o.Name()
	case o.Pkg().Path() == Path:
		return c.entity(o).id
	case !o.Exported():
		c.mistake(token.NoPos, fmt.Sprintf("the type %s.%s has no name outside of its package, so no variable of a "+
			"notebook can have it; use the value within one statement, or as an interface", o.Pkg().Name(), o.Name()))
	}
	return c.qualifier(o.Pkg()) + "." + o.Name()
}

func (c *Cell) args(list *types.TypeList) string {
	if list.Len() == 0 {
		return ""
	}
	var texts []string
	for t := range list.Types() {
		texts = append(texts, c.typeOf(t))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func (c *Cell) signature(s *types.Signature) string {
	return c.tuple(s.Params(), s.Variadic()) + " " + c.tuple(s.Results(), false)
}

func (c *Cell) tuple(t *types.Tuple, variadic bool) string {
	var texts []string
	for i := range t.Len() {
		texts = append(texts, c.param(t.At(i).Type(), variadic && i == t.Len()-1))
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// param writes the type of a parameter, which may be the last of a variadic function.
func (c *Cell) param(t types.Type, variadic bool) string {
	if s, ok := t.(*types.Slice); ok && variadic {
		return "..." + c.typeOf(s.Elem())
	}
	return c.typeOf(t)
}

func (c *Cell) structOf(s *types.Struct) string {
	var b strings.Builder
	b.WriteString("struct {")
	for i := range s.NumFields() {
		f := s.Field(i)
		t := c.typeOf(f.Type())
		if !f.Embedded() {
			t = f.Name() + " " + t
		} else {
			t = c.embedded(f.Type(), t)
		}
		b.WriteString(" " + t)
		if tag := s.Tag(i); tag != "" {
			b.WriteString(" " + strconv.Quote(tag))
		}
		b.WriteString(";")
	}
	return b.String() + " }"
}

// embedded writes an embedded field whose type has been written. The field must have the name that
// the type has in the cell, so the field embeds an alias of that name, which the package declares.
func (c *Cell) embedded(t types.Type, text string) string {
	p, isPointer := t.(*types.Pointer)
	if isPointer {
		t = p.Elem()
	}
	var o *types.TypeName
	var args *types.TypeList
	switch t := t.(type) {
	case *types.Alias:
		o, args = t.Obj(), t.TypeArgs()
	case *types.Named:
		o, args = t.Obj(), t.TypeArgs()
	}
	if o == nil || packagePath(o) != Path {
		return text
	}
	c.code.fields[o.Name()] = c.entity(o)
	if text = o.Name() + c.args(args); isPointer {
		return "*" + text
	}
	return text
}

func (c *Cell) interfaceOf(t *types.Interface) string {
	var texts []string
	for m := range t.ExplicitMethods() {
		texts = append(texts, m.Name()+c.signature(m.Signature()))
	}
	for e := range t.EmbeddedTypes() {
		texts = append(texts, c.typeOf(e))
	}
	return "interface { " + strings.Join(texts, "; ") + " }"
}

package cell

import (
	"fmt"
	"go/types"
	"strings"
)

// typeText writes a type as the translation must: cells' names in the form that other cells see.
func (t *translation) typeText(typ types.Type) string {
	switch typ := typ.(type) {
	case *types.Basic:
		if typ.Kind() == types.UnsafePointer {
			return t.packageName("unsafe", "unsafe") + ".Pointer"
		}
		if typ.Info()&types.IsUntyped != 0 {
			return types.Default(typ).String()
		}
		return typ.Name()
	case *types.Alias:
		return t.nameText(typ.Obj(), typ.TypeArgs())
	case *types.Named:
		return t.nameText(typ.Obj(), typ.TypeArgs())
	case *types.TypeParam:
		return typ.Obj().Name()
	case *types.Pointer:
		return "*" + t.typeText(typ.Elem())
	case *types.Slice:
		return "[]" + t.typeText(typ.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", typ.Len(), t.typeText(typ.Elem()))
	case *types.Map:
		return "map[" + t.typeText(typ.Key()) + "]" + t.typeText(typ.Elem())
	case *types.Chan:
		return map[types.ChanDir]string{types.SendRecv: "chan (", types.SendOnly: "chan<- (", types.RecvOnly: "<-chan ("}[typ.Dir()] + t.typeText(typ.Elem()) + ")"
	case *types.Signature:
		return "func" + t.signature(typ)
	case *types.Struct:
		return t.structText(typ)
	case *types.Interface:
		return t.interfaceText(typ)
	case *types.Union:
		var terms []string
		for term := range typ.Terms() {
			tilde := map[bool]string{true: "~"}[term.Tilde()]
			terms = append(terms, tilde+t.typeText(term.Type()))
		}
		return strings.Join(terms, " | ")
	}
	return typ.String()
}

func (t *translation) nameText(o *types.TypeName, args *types.TypeList) string {
	text := o.Name()
	switch {
	case o.Pkg() == nil:
	case o.Pkg().Path() == ourPath && o.Parent() != nil && o.Parent().Parent() != types.Universe && o.Pkg() == t.pkg,
		o.Pkg().Path() != ourPath && !o.Exported():
		t.failed = fmt.Errorf("a variable of the type %s cannot outlive its cell, since only its package can name that type: give the variable an interface for its type, or put the statement into a function", Plain(types.TypeString(o.Type(), nil)))
	case o.Pkg().Path() == ourPath:
		text = t.refer(o)
	default:
		text = t.packageName(o.Pkg().Path(), o.Pkg().Name()) + "." + text
	}
	if args.Len() == 0 {
		return text
	}
	var list []string
	for arg := range args.Types() {
		list = append(list, t.typeText(arg))
	}
	return text + "[" + strings.Join(list, ", ") + "]"
}

// packageName is the name by which types mention a package, whatever the cell calls it.
func (t *translation) packageName(path, name string) string {
	t.named[path] = our + name + fmt.Sprint(len(path))
	return t.named[path]
}

func (t *translation) signature(s *types.Signature) string {
	var in []string
	for i := range s.Params().Len() {
		text := t.typeText(s.Params().At(i).Type())
		if s.Variadic() && i == s.Params().Len()-1 {
			text = "..." + strings.TrimPrefix(text, "[]")
		}
		in = append(in, text)
	}
	var out []string
	for v := range s.Results().Variables() {
		out = append(out, t.typeText(v.Type()))
	}
	return "(" + strings.Join(in, ", ") + ") (" + strings.Join(out, ", ") + ")"
}

func (t *translation) structText(s *types.Struct) string {
	var b strings.Builder
	b.WriteString("struct{ ")
	for i := range s.NumFields() {
		f, tag := s.Field(i), s.Tag(i)
		if !f.Embedded() {
			name := f.Name()
			if name != "_" && f.Pkg().Path() == ourPath {
				name = exported(name)
			}
			b.WriteString(name + " ")
		}
		b.WriteString(t.typeText(f.Type()))
		switch {
		case tag != "":
			fmt.Fprintf(&b, " %q", tag)
		case !f.Exported() && !f.Embedded() && f.Name() != "_" && f.Pkg().Path() == ourPath:
			b.WriteString(" " + hiddenTag)
		}
		b.WriteString("; ")
	}
	return b.String() + "}"
}

func (t *translation) interfaceText(s *types.Interface) string {
	var b strings.Builder
	b.WriteString("interface{ ")
	for m := range s.ExplicitMethods() {
		name := m.Name()
		if !m.Exported() && m.Pkg() != nil && m.Pkg().Path() == ourPath {
			name = exported(name)
		}
		b.WriteString(name + t.signature(m.Signature()) + "; ")
	}
	for e := range s.EmbeddedTypes() {
		b.WriteString(t.typeText(e) + "; ")
	}
	return b.String() + "}"
}

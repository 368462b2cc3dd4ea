package cell

import (
	"fmt"
	"go/types"
	"slices"
)

func packagePath(o types.Object) string {
	if o.Pkg() == nil {
		return ""
	}
	return o.Pkg().Path()
}

// components returns the types that a type is written with, and its form: all else that it is. A
// form that is empty is like no other one.
func components(t types.Type) (form string, of []types.Type) {
	variables := func(list *types.Tuple) {
		for v := range list.Variables() {
			of = append(of, v.Type())
		}
	}
	switch t := t.(type) {
	case *types.Alias:
		return "", append(slices.Collect(t.TypeArgs().Types()), types.Unalias(t))
	case *types.Named:
		return "type " + packagePath(t.Obj()) + "." + t.Obj().Name(), slices.Collect(t.TypeArgs().Types())
	case *types.Pointer:
		return "pointer", []types.Type{t.Elem()}
	case *types.Slice:
		return "slice", []types.Type{t.Elem()}
	case *types.Array:
		return fmt.Sprint("array ", t.Len()), []types.Type{t.Elem()}
	case *types.Map:
		return "map", []types.Type{t.Key(), t.Elem()}
	case *types.Chan:
		return fmt.Sprint("channel ", t.Dir()), []types.Type{t.Elem()}
	case *types.Signature:
		variables(t.Params())
		variables(t.Results())
		return fmt.Sprint("function ", t.Params().Len(), t.Variadic()), of
	case *types.Struct:
		form = "struct"
		for f := range t.Fields() {
			form += fmt.Sprint(" ", f.Name(), f.Embedded())
			of = append(of, f.Type())
		}
	case *types.Interface:
		for m := range t.Methods() { // sorted by name
			form += " " + m.Name()
			of = append(of, m.Signature())
		}
		if form = "interface" + form; !t.IsMethodSet() {
			form = ""
		}
	}
	return form, of
}

// sameLayout says whether two types are the same but for names of types that were declared again.
func sameLayout(a, b types.Type, within [][2]types.Type) bool {
	a, b = types.Unalias(a), types.Unalias(b)
	if types.Identical(a, b) || slices.Contains(within, [2]types.Type{a, b}) {
		return true
	}
	form, of := components(a)
	other, others := components(b)
	if form == "" || form != other || len(of) != len(others) {
		return false
	}
	if _, named := a.(*types.Named); named {
		within = append(slices.Clip(within), [2]types.Type{a, b})
		of, others = append(of, a.Underlying()), append(others, b.Underlying())
	}
	for i := range of {
		if !sameLayout(of[i], others[i], within) {
			return false
		}
	}
	return true
}

// mentions says whether a type is written with a name.
func mentions(t types.Type, names map[types.Object]bool) bool {
	if len(names) == 0 {
		return false
	}
	if named, ok := t.(interface{ Obj() *types.TypeName }); ok && names[named.Obj()] {
		return true
	}
	_, of := components(t)
	return slices.ContainsFunc(of, func(t types.Type) bool { return mentions(t, names) })
}

package nb

import (
	"encoding"
	"encoding/gob"
	"fmt"
	"reflect"
	"strings"
)

// shapeOf describes a type by its name and by what encoding/gob keeps of it, so that a type whose fields were edited is
// another one.
func shapeOf[T any]() string {
	t := reflect.TypeFor[T]()
	return t.String() + " " + shapes{}.of(t)
}

// shapes are the named types that have been described, which may have themselves in their fields.
type shapes map[reflect.Type]bool

func (s shapes) of(t reflect.Type) string {
	if t.Name() != "" {
		if s[t] || keepsItself(t) {
			return t.String()
		}
		s[t] = true
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + s.of(t.Elem())
	case reflect.Slice:
		return "[]" + s.of(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), s.of(t.Elem()))
	case reflect.Map:
		return "map[" + s.of(t.Key()) + "]" + s.of(t.Elem())
	case reflect.Struct:
		return s.fields(t)
	}
	return t.Kind().String()
}

func (s shapes) fields(t reflect.Type) string {
	var b strings.Builder
	for f := range t.Fields() {
		if f.IsExported() {
			fmt.Fprintf(&b, "%s %s; ", f.Name, s.of(f.Type))
		}
	}
	return "{" + b.String() + "}"
}

// keepsItself says whether a type is written by a method of its own, whatever its fields are.
func keepsItself(t reflect.Type) bool {
	for _, writer := range []reflect.Type{
		reflect.TypeFor[gob.GobEncoder](), reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.TextMarshaler](),
	} {
		if t.Implements(writer) || reflect.PointerTo(t).Implements(writer) {
			return true
		}
	}
	return false
}

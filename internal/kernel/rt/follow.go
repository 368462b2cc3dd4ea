package rt

import (
	"reflect"
	"sync"
)

var named sync.Map // types, by their identifiers

// Types makes types of cells known, by their identifiers: pointers that are nil.
func Types(pointers map[string]any) {
	for id, p := range pointers {
		named.Store(id, reflect.TypeOf(p).Elem())
	}
}

// Follow changes the types of the values that interfaces hold: a value of an old type gets the type
// that was declared in its place, which has the same layout in memory. names maps the identifiers
// of old types to those of new ones. Values inside those of other packages are left alone.
func Follow(names map[string]string) {
	f := follower{to: map[reflect.Type]reflect.Type{}, open: map[reflect.Type]bool{}, seen: map[seen]bool{}}
	for old, now := range names {
		from, ok := named.Load(old)
		to, ok2 := named.Load(now)
		if ok && ok2 {
			f.to[from.(reflect.Type)] = to.(reflect.Type)
		}
	}
	for _, p := range variables.Range {
		f.walk(reflect.ValueOf(p).Elem())
	}
}

// follower walks through values.
type follower struct {
	to   map[reflect.Type]reflect.Type
	open map[reflect.Type]bool // whether a type leads to interfaces
	seen map[seen]bool
}

type seen struct {
	p uintptr
	t reflect.Type
}

// now is the type that has taken the place of another one, or that itself.
func (f *follower) now(t reflect.Type) reflect.Type {
	if to := f.to[t]; to != nil {
		return to
	}
	if t.Name() != "" {
		return t
	}
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(f.now(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(f.now(t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), f.now(t.Elem()))
	case reflect.Map:
		return reflect.MapOf(f.now(t.Key()), f.now(t.Elem()))
	}
	return t
}

// leads says whether values of a type lead to interfaces of cells.
func (f *follower) leads(t reflect.Type) bool {
	if known, ok := f.open[t]; ok {
		return known
	}
	f.open[t] = false
	leads := false
	switch t.Kind() {
	case reflect.Interface:
		leads = true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		leads = f.leads(t.Elem())
	case reflect.Map:
		leads = f.leads(t.Key()) || f.leads(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			leads = leads || (t.PkgPath() == "" || t.PkgPath()+"." == CellPath) && f.leads(field.Type)
		}
	}
	f.open[t] = leads
	return leads
}

// walk walks through a variable.
func (f *follower) walk(v reflect.Value) {
	if !f.leads(v.Type()) {
		return
	}
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // also of a field that is not exported
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		old := reflect.New(v.Elem().Type()).Elem()
		old.Set(v.Elem())
		t := f.now(old.Type())
		now := reflect.NewAt(t, old.Addr().UnsafePointer()).Elem()
		if f.leads(t) {
			f.walk(now)
		}
		if t != old.Type() && t.AssignableTo(v.Type()) || f.leads(t) && t.Kind() != reflect.Pointer {
			v.Set(now)
		}
	case reflect.Pointer:
		if !v.IsNil() && !f.seen[seen{v.Pointer(), v.Type()}] {
			f.seen[seen{v.Pointer(), v.Type()}] = true
			f.walk(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			f.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			if f.leads(field.Type()) {
				f.walk(reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem())
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			k, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			k.Set(key)
			value := v.MapIndex(key)
			if !value.IsValid() { // the key is NaN, which is not equal to itself
				continue
			}
			elem.Set(value)
			f.walk(k)
			f.walk(elem)
			if f.leads(k.Type()) {
				v.SetMapIndex(key, reflect.Value{})
			}
			v.SetMapIndex(k, elem)
		}
	}
}

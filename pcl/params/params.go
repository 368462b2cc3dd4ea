// Package params makes a struct the declaration of its parameters. The tagged fields of
//
//	type MIR struct {
//		Candidates float64  `param:"candidates" default:"5" range:"whole [1,1e6]" doc:"number of candidates for each sample"`
//		Gamma      *float64 `param:"gamma" default:"0.1" range:"[0,1e6]" doc:"length of the virtual step"`
//	}
//
// are what the command line, TOML and JSON call them, their defaults, ranges, choices and documentation. A field is a
// float64, an int or []int (with a whole range), a uint64, a bool, a string, a map[string]any, or an any, which holds a
// number or a word. A field that is itself a struct is a table, whose parameters have names such as "optimizer.lr".
//
// A zero value stands for the default. Where zero is a choice of its own, the field is a pointer (new(0.0)), or its name
// ends in ",required": then zero means zero.
package params

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Param is one parameter.
type Param struct {
	Name    string   `json:"name"`
	Default any      `json:"default"` // of the type that [Resolve] returns
	Choices []string `json:"choices,omitempty"`
	Doc     string   `json:"doc"`
	Flag    string   `json:"-"` // the tag "flag"

	within   interval
	pointer  bool
	required bool  // whether a zero does not stand for the default
	index    []int // of the field
}

// Of lists the parameters of a struct, or of the struct that a pointer points to, including those of embedded structs. It
// panics if two parameters have one name, if a field is not exported or has a type that the package's comment does not
// list, if a default is out of range, or if a tag cannot be read.
func Of(declaration any) []Param {
	t := structType(declaration)
	list, ok := known.Load(t)
	if !ok {
		list, _ = known.LoadOrStore(t, of(t, "", nil))
	}
	return slices.Clone(list.([]Param))
}

var known sync.Map // the parameters of a type

func of(t reflect.Type, table string, index []int) (list []Param) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, declared := f.Tag.Lookup("param")
		at, more := append(slices.Clone(index), i), []Param(nil)
		switch name, option, _ := strings.Cut(tag, ","); {
		case declared && f.Type.Kind() == reflect.Struct:
			more = of(f.Type, table+name+".", at)
		case declared:
			p := Param{Name: table + name, required: option == "required", index: at}
			if err := p.read(f); err != nil {
				panic(fmt.Sprintf("params: parameter %q of %s: %v", name, t, err))
			}
			more = []Param{p}
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			more = of(f.Type, table, at)
		}
		for _, p := range more {
			if find(list, p.Name) >= 0 {
				panic(fmt.Sprintf("params: parameter %q of %s: there are two of this name", p.Name, t))
			}
			list = append(list, p)
		}
	}
	return list
}

func find(list []Param, name string) int {
	return slices.IndexFunc(list, func(p Param) bool { return p.Name == name })
}

func structType(declaration any) reflect.Type {
	t := reflect.Indirect(reflect.ValueOf(declaration))
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("params: %T is not a struct whose fields are parameters", declaration))
	}
	return t.Type()
}

// read reads the tags of a field.
func (p *Param) read(f reflect.StructField) (err error) {
	p.Doc, p.Flag, p.pointer = f.Tag.Get("doc"), f.Tag.Get("flag"), f.Type.Kind() == reflect.Pointer
	if !f.IsExported() {
		return fmt.Errorf("the field %s is not exported", f.Name)
	}
	if choices := f.Tag.Get("choices"); choices != "" {
		p.Choices = strings.Split(choices, ",")
	}
	if p.within, err = parseInterval(f.Tag.Get("range")); err != nil {
		return err
	}
	t := f.Type
	if p.pointer {
		t = t.Elem()
	}
	var ok bool
	if p.Default, ok = zeroOf(t); !ok {
		return fmt.Errorf("the field has the type %s; want float64, int, []int, uint64, bool, string, any, a pointer to one of them, a map or a struct", f.Type)
	}
	if (t.Kind() == reflect.Int || t.Kind() == reflect.Slice) && !p.within.whole {
		return fmt.Errorf("the range is not whole, as that of an int")
	}
	free := *p
	free.required = true // the default itself may be zero
	p.Default, err = free.convert(f.Tag.Get("default"))
	return err
}

// convert turns a value from TOML, JSON, the command line or Go into the parameter's type: a float64 (also for an int),
// []int, uint64, bool, string or map. It returns an error for a value that is out of range or not among the choices.
func (p Param) convert(v any) (any, error) {
	v, err := p.typed(v)
	if err != nil {
		return nil, err
	}
	if zero := reflect.ValueOf(v).IsZero(); zero && !p.pointer && !p.required && !reflect.DeepEqual(v, p.Default) {
		switch { // the field could not tell it from the default
		case len(p.Choices) == 0 && reflect.TypeOf(v).Kind() == reflect.String:
			return nil, fmt.Errorf("want a text that is not empty")
		case p.within.text == "" && len(p.Choices) == 0:
			return nil, fmt.Errorf("%v is out of range", v)
		}
	}
	switch v := v.(type) {
	case float64:
		return v, p.within.check(v)
	case []int:
		for _, n := range v {
			err = cmp.Or(err, p.within.check(float64(n)))
		}
	}
	if s, _ := v.(string); len(p.Choices) > 0 && !slices.Contains(p.Choices, s) {
		return nil, fmt.Errorf("%q is not one of %s", s, strings.Join(p.Choices, ", "))
	}
	return v, err
}

// Resolve returns a value for every parameter: the given ones in the parameter's type, and the defaults of the others.
func Resolve(list []Param, given map[string]any) (map[string]any, error) {
	values := map[string]any{}
	for _, p := range list {
		values[p.Name] = p.Default
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := find(list, name)
		if i < 0 {
			return nil, fmt.Errorf("it has no parameter %q; want one of %s", name, names(list, name))
		}
		v, err := list[i].convert(given[name])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		values[name] = v
	}
	return values, nil
}

// names lists the parameters that an unknown name could have meant: those of its table, or all.
func names(list []Param, unknown string) string {
	var all, near []string
	table := unknown[:strings.LastIndexByte(unknown, '.')+1]
	for _, p := range list {
		if all = append(all, p.Name); strings.HasPrefix(p.Name, table) {
			near = append(near, p.Name)
		}
	}
	if len(near) == 0 {
		near = all
	}
	return strings.Join(near, ", ")
}

// flat returns values with those of tables under names such as "optimizer.lr".
func flat(list []Param, table string, values map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range values {
		name := table + key
		inner, nested := v.(map[string]any)
		if nested && slices.ContainsFunc(list, func(p Param) bool { return strings.HasPrefix(p.Name, name+".") }) {
			maps.Copy(out, flat(list, name+".", inner))
		} else {
			out[name] = v
		}
	}
	return out
}

// With returns a copy of the struct in which the named parameters have new values. The values of a table may also be given
// as one map under the table's name. A map is merged into the map that the field has. Given a pointer, With returns a
// pointer to a changed copy.
func With[T any](declaration T, values map[string]any) (T, error) {
	list := Of(declaration)
	values = flat(list, "", values)
	all, err := Resolve(list, values)
	if err != nil {
		return declaration, err
	}
	return changed(declaration, func(fields reflect.Value) error {
		for _, p := range list {
			if _, given := values[p.Name]; given {
				p.set(fields, all[p.Name])
			}
		}
		return nil
	})
}

// Values returns the values of a struct's parameters by their names. A pointer gives the value it points to, or nil.
func Values(declaration any) map[string]any {
	out, fields := map[string]any{}, reflect.Indirect(reflect.ValueOf(declaration))
	for _, p := range Of(declaration) {
		out[p.Name] = nil
		if f := fields.FieldByIndex(p.index); !p.pointer || !f.IsNil() {
			out[p.Name] = reflect.Indirect(f).Interface()
		}
	}
	return out
}

// Filled returns a copy of the struct, or a pointer to a copy, with the defaults in place of zero values. It returns an error
// for a value out of range.
func Filled[T any](declaration T) (T, error) { return changed(declaration, fill) }

// FilledPointer is [Filled] that returns a pointer, whatever it is given.
func FilledPointer(declaration any) (pointer any, err error) {
	out := copyOf(declaration)
	return out.Interface(), fill(out.Elem())
}

func fill(fields reflect.Value) error {
	for _, p := range Of(fields.Interface()) {
		v, f := p.Default, fields.FieldByIndex(p.index)
		if p.required || !f.IsZero() {
			var err error
			if v, err = p.convert(reflect.Indirect(f).Interface()); err != nil {
				return fmt.Errorf("parameter %s: %w", p.Name, err)
			}
		}
		p.set(fields, v)
	}
	return nil
}

// Begun returns a copy of the struct in which required parameters that are zero have their defaults. The others stay as
// they are, since zero stands for their default.
func Begun[T any](declaration T) T {
	out, _ := changed(declaration, func(fields reflect.Value) error {
		for _, p := range Of(declaration) {
			if p.required && fields.FieldByIndex(p.index).IsZero() {
				p.set(fields, p.Default)
			}
		}
		return nil
	})
	return out
}

// changed returns a changed copy of a struct, or a pointer to one.
func changed[T any](declaration T, change func(fields reflect.Value) error) (T, error) {
	out := copyOf(declaration)
	err := change(out.Elem())
	if reflect.ValueOf(declaration).Kind() != reflect.Pointer {
		out = out.Elem()
	}
	return out.Interface().(T), err
}

// copyOf returns a pointer to a copy of a struct, or of what a pointer points to.
func copyOf(declaration any) reflect.Value {
	out := reflect.New(structType(declaration))
	out.Elem().Set(reflect.Indirect(reflect.ValueOf(declaration)))
	return out
}

// set puts a value of the parameter's type into its field.
func (p Param) set(fields reflect.Value, v any) {
	field, value := fields.FieldByIndex(p.index), reflect.ValueOf(v)
	if p.pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if entries, isMap := v.(map[string]any); isMap {
		old, _ := field.Interface().(map[string]any)
		if old = maps.Clone(old); old == nil {
			old = entries
		} else {
			maps.Copy(old, entries)
		}
		value = reflect.ValueOf(old)
	}
	if field.Kind() != reflect.Interface {
		value = value.Convert(field.Type())
	}
	field.Set(value)
}

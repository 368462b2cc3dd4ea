// Package params makes a struct the declaration of its parameters. The tagged fields of
//
//	type MIR struct {
//		Candidates float64  `param:"candidates" default:"5" range:"whole [1,1e6]" doc:"number of candidates for each sample"`
//		Gamma      *float64 `param:"gamma" default:"0.1" range:"[0,1e6]" doc:"length of the virtual step"`
//	}
//
// are what the command line, TOML and JSON call them, their defaults, ranges, choices and documentation. A field is a
// float64, an int (with a whole range), a bool, a string, or an any, which holds a number or a word. Its zero value stands for the default; where zero
// is a choice of its own, the field is a pointer (new(0.0)).
package params

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Param is one parameter.
type Param struct {
	Name    string   `json:"name"`
	Default any      `json:"default"` // a float64, bool or string
	Choices []string `json:"choices,omitempty"`
	Doc     string   `json:"doc"`

	within   interval
	pointer  bool // so that a zero does not stand for the default
	position int  // of the field
}

// Of lists the parameters of a struct, or of the struct that a pointer points to. It panics if the tags contradict
// themselves or the field: if there are two parameters of one name, if a field is not exported or of another type than
// those of the package's comment, or if a default is out of range.
func Of(declaration any) (list []Param) {
	t := structType(declaration)
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := f.Tag.Lookup("param")
		if !ok {
			continue
		}
		p, err := read(name, f)
		if err == nil && slices.ContainsFunc(list, func(q Param) bool { return q.Name == name }) {
			err = fmt.Errorf("there are two of this name")
		}
		if err != nil {
			panic(fmt.Sprintf("params: parameter %q of %s: %v", name, t, err))
		}
		p.position = i
		list = append(list, p)
	}
	return list
}

func structType(declaration any) reflect.Type {
	t := reflect.Indirect(reflect.ValueOf(declaration))
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("params: %T is not a struct whose fields are parameters", declaration))
	}
	return t.Type()
}

// read reads the tags of a field.
func read(name string, f reflect.StructField) (p Param, err error) {
	p = Param{Name: name, Doc: f.Tag.Get("doc"), pointer: f.Type.Kind() == reflect.Pointer}
	if !f.IsExported() {
		return p, fmt.Errorf("the field %s is not exported", f.Name)
	}
	if choices := f.Tag.Get("choices"); choices != "" {
		p.Choices = strings.Split(choices, ",")
	}
	if p.within, err = parseInterval(f.Tag.Get("range")); err != nil {
		return p, err
	}
	t, text := f.Type, f.Tag.Get("default")
	if p.pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int:
		if p.Default = 0.0; !p.within.whole {
			return p, fmt.Errorf("the range is not whole, as that of an int")
		}
	case reflect.Float64:
		p.Default = 0.0
	case reflect.Bool:
		p.Default = false
	case reflect.String, reflect.Interface:
		p.Default = text
	default:
		return p, fmt.Errorf("the field has the type %s; want float64, int, bool, string, any, or a pointer to one of them", f.Type)
	}
	free := p
	free.pointer = true // the default itself may be zero
	p.Default, err = free.Convert(text)
	return p, err
}

// Convert turns what TOML, JSON, the command line or Go deliver into the parameter's type: a float64, bool or string. A
// value out of range, or none of the choices, is an error.
func (p Param) Convert(v any) (any, error) {
	v, err := p.typed(v)
	if err != nil {
		return nil, err
	}
	switch s, isText := v.(string); {
	case len(p.Choices) > 0 && !slices.Contains(p.Choices, s):
		return nil, fmt.Errorf("%q is not one of %s", s, strings.Join(p.Choices, ", "))
	case p.pointer || v == p.Default || !reflect.ValueOf(v).IsZero():
	case isText:
		return nil, fmt.Errorf("want a text that is not empty")
	case p.within.text == "": // the field could not tell it from the default
		return nil, fmt.Errorf("%v is out of range", v)
	}
	if x, ok := v.(float64); ok {
		return v, p.within.check(x)
	}
	return v, nil
}

func (p Param) typed(v any) (any, error) {
	switch p.Default.(type) {
	case float64:
		return toFloat(v)
	case bool:
		switch v := v.(type) {
		case bool:
			return v, nil
		case string:
			if b, err := strconv.ParseBool(v); err == nil {
				return b, nil
			}
		}
		return nil, fmt.Errorf("want true or false, not %v", v)
	}
	return fmt.Sprint(v), nil
}

func toFloat(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case int:
		return float64(v), nil
	case string:
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", v)
		}
		return x, nil
	}
	return 0, fmt.Errorf("want a number, not %v", v)
}

// Resolve returns a value for every parameter: the given ones in the parameter's type, and the defaults of the others.
func Resolve(list []Param, given map[string]any) (map[string]any, error) {
	values := map[string]any{}
	for _, p := range list {
		values[p.Name] = p.Default
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(list, func(p Param) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("it has no parameter %q; want one of %s", name, names(list))
		}
		v, err := list[i].Convert(given[name])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		values[name] = v
	}
	return values, nil
}

func names(list []Param) string {
	var s []string
	for _, p := range list {
		s = append(s, p.Name)
	}
	return strings.Join(s, ", ")
}

// With returns a copy of the struct with other values of parameters, by their names. Of a pointer it is a pointer to a
// changed copy.
func With[T any](declaration T, values map[string]any) (T, error) {
	list := Of(declaration)
	if _, err := Resolve(list, values); err != nil {
		return declaration, err
	}
	return changed(declaration, func(fields reflect.Value) error {
		for _, p := range list {
			if v, ok := values[p.Name]; ok {
				v, _ = p.Convert(v) // Resolve did
				p.set(fields, v)
			}
		}
		return nil
	})
}

// Filled returns a copy of the struct with the defaults in place of zero values. Of a pointer it is a pointer to a copy. A
// value out of range is an error.
func Filled[T any](declaration T) (T, error) {
	list := Of(declaration)
	return changed(declaration, func(fields reflect.Value) error {
		for _, p := range list {
			v := p.Default
			if f := fields.Field(p.position); !f.IsZero() {
				var err error
				if v, err = p.Convert(reflect.Indirect(f).Interface()); err != nil {
					return fmt.Errorf("parameter %s: %w", p.Name, err)
				}
			}
			p.set(fields, v)
		}
		return nil
	})
}

// changed returns a changed copy of a struct, or a pointer to one.
func changed[T any](declaration T, change func(fields reflect.Value) error) (T, error) {
	given := reflect.ValueOf(declaration)
	out := reflect.New(structType(declaration))
	out.Elem().Set(reflect.Indirect(given))
	err := change(out.Elem())
	if given.Kind() != reflect.Pointer {
		out = out.Elem()
	}
	return out.Interface().(T), err
}

// set puts a value of the parameter's type into its field.
func (p Param) set(fields reflect.Value, v any) {
	field, value := fields.Field(p.position), reflect.ValueOf(v)
	if p.pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if field.Kind() != reflect.Interface {
		value = value.Convert(field.Type())
	}
	field.Set(value)
}

// TOML writes a table's lines with the defaults, and the documentation beside them.
func TOML(list []Param) string {
	var text strings.Builder
	for _, p := range list {
		line, more := fmt.Sprintf("%s = %v", p.Name, p.Default), ""
		if s, ok := p.Default.(string); ok {
			line = fmt.Sprintf("%s = %q", p.Name, s)
		}
		if len(p.Choices) > 0 {
			more = "; one of " + strings.Join(p.Choices, ", ")
		}
		fmt.Fprintf(&text, "%-32s # %s%s\n", line, p.Doc, more)
	}
	return text.String()
}

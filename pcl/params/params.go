// Package params makes a struct the declaration of its parameters. The tagged fields of
//
//	type MIR struct {
//		Candidates float64  `param:"candidates" default:"5" range:"whole [1,1e6]" doc:"number of candidates for each sample"`
//		Gamma      *float64 `param:"gamma" default:"0.1" range:"[0,1e6]" doc:"length of the virtual step"`
//	}
//
// are what the command line, TOML and JSON call them, their defaults, ranges, choices and
// documentation. A field is a float64, an int or []int (with a whole range), a uint64, a bool, a
// string, a map[string]any or of a type of kind string, or it has a type that reads and writes
// itself as a text (encoding.TextUnmarshaler on its pointer, encoding.TextMarshaler on itself),
// which then says what is allowed. A field that is itself a struct is a table, whose parameters
// have names such as "optimizer.lr".
//
// A zero value stands for the default. Where zero is a choice of its own, the field is a pointer
// (new(0.0)), or its name ends in ",required": then zero means zero.
package params

import (
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
	Default any      `json:"default"` // a float64 (also of an int), uint64, bool, string, []int or map
	Choices []string `json:"choices,omitempty"`
	Doc     string   `json:"doc"`
	Flag    string   `json:"-"` // the tag "flag"

	within   interval
	pointer  bool
	required bool         // whether a zero does not stand for the default
	kind     reflect.Type // of the field, or of what it points to
	index    []int        // of the field
}

// Of lists the parameters of a struct, or of the struct that a pointer points to, including those
// of embedded structs. It panics if two parameters have one name, if a field is not exported or has
// a type that the package's comment does not list, if a default is out of range, or if a tag cannot
// be read.
func Of(declaration any) []Param {
	return slices.Clone(listOf(structType(declaration)))
}

func listOf(t reflect.Type) []Param {
	list, ok := known.Load(t)
	if !ok {
		list, _ = known.LoadOrStore(t, of(t, "", nil))
	}
	return list.([]Param)
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
	p.Doc, p.Flag, p.pointer, p.kind = f.Tag.Get("doc"), f.Tag.Get("flag"), f.Type.Kind() == reflect.Pointer, f.Type
	if !f.IsExported() {
		return fmt.Errorf("the field %s is not exported", f.Name)
	}
	if choices := f.Tag.Get("choices"); choices != "" {
		p.Choices = strings.Split(choices, ",")
	}
	if p.within, err = parseInterval(f.Tag.Get("range")); err != nil {
		return err
	}
	if p.pointer {
		p.kind = f.Type.Elem()
	}
	if !decodes(p.kind) {
		return fmt.Errorf("the field has the type %s; want float64, int, []int, uint64, bool, string, one that is read "+
			"from a text, a pointer to one of them, a map or a struct", f.Type)
	}
	if (p.kind.Kind() == reflect.Int || p.kind.Kind() == reflect.Slice) && !p.within.whole {
		return fmt.Errorf("the range is not whole, as that of an int")
	}
	free := *p
	free.required = true // the default itself may be zero
	v, err := free.decode(f.Tag.Get("default"))
	if err != nil {
		return err
	}
	p.Default = valueOf(v)
	return nil
}

// Set gives the named parameters of the struct that a pointer points to new values, and leaves the
// others as they are. Values may come from Go, TOML, JSON or the command line. The values of a
// table may also be given as one map under its name. A map is merged into the map that the field
// has. After an error nothing has changed.
func Set(pointer any, values map[string]any) error { return write(pointer, values, false) }

// Decode is [Set] that also puts the defaults in place of zero values, and checks all parameters.
func Decode(pointer any, values map[string]any) error { return write(pointer, values, true) }

// Fill puts the defaults in place of zero values. It returns an error for a value that is not
// allowed, and then changes nothing.
func Fill(pointer any) error { return write(pointer, nil, true) }

func write(pointer any, given map[string]any, fill bool) error {
	fields := reflect.ValueOf(pointer).Elem()
	list := listOf(fields.Type())
	given = flat(list, "", given)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if find(list, name) < 0 {
			return fmt.Errorf("it has no parameter %q; want one of %s", name, names(list, name))
		}
	}
	next := make([]reflect.Value, len(list))
	for i, p := range list {
		f, err := fields.FieldByIndex(p.index), error(nil)
		x, named := given[p.Name]
		switch {
		case named:
			next[i], err = p.decode(x)
		case fill && (p.required || !f.IsZero()):
			err = p.check(reflect.Indirect(f))
		case fill:
			next[i], err = p.decode(p.Default)
		}
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
	}
	for i, p := range list {
		if next[i].IsValid() {
			p.set(fields, next[i])
		}
	}
	return nil
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

// Values returns the values of a struct's parameters by their names. A pointer gives the value it
// points to, or nil; a type that is written as a text gives the text.
func Values(declaration any) map[string]any {
	out, fields := map[string]any{}, reflect.Indirect(reflect.ValueOf(declaration))
	for _, p := range listOf(structType(declaration)) {
		out[p.Name] = nil
		if f := fields.FieldByIndex(p.index); !p.pointer || !f.IsNil() {
			v := reflect.Indirect(f)
			out[p.Name] = v.Interface()
			if text, ok := textOf(v); ok {
				out[p.Name] = text
			} else if v.Kind() == reflect.String {
				out[p.Name] = v.String() // also of a type with constants
			}
		}
	}
	return out
}

// FillRequired gives the required parameters that are zero their defaults. The others stay as they
// are, since zero stands for their default.
func FillRequired(pointer any) {
	fields := reflect.ValueOf(pointer).Elem()
	for _, p := range listOf(fields.Type()) {
		if p.required && fields.FieldByIndex(p.index).IsZero() {
			v, _ := p.decode(p.Default) // which Of has checked
			p.set(fields, v)
		}
	}
}

// set puts a decoded value into its field.
func (p Param) set(fields, value reflect.Value) {
	field := fields.FieldByIndex(p.index)
	if p.pointer {
		field.Set(reflect.New(p.kind))
		field = field.Elem()
	}
	if entries, isMap := value.Interface().(map[string]any); isMap {
		if old, _ := field.Interface().(map[string]any); old != nil {
			old = maps.Clone(old)
			maps.Copy(old, entries)
			value = reflect.ValueOf(old)
		}
	}
	field.Set(value)
}

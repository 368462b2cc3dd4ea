package rehearsal

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Field describes one parameter of a part: a field of its type with the tags param, default, choices and doc.
type Field struct {
	Name    string
	Default any // a float64, bool or string
	Choices []string
	Doc     string
}

// Fields lists the parameters of a part.
func Fields(p Part) (fields []Field) {
	t := reflect.TypeOf(p)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, ok := tag.Lookup("param")
		if !ok {
			continue
		}
		if !t.Field(i).IsExported() {
			panic(fmt.Sprintf("rehearsal: the parameter %q of a %s is the field %s, which is not exported", name, t, t.Field(i).Name))
		}
		f := Field{Name: name, Default: parse(t.Field(i).Type, tag.Get("default")), Doc: tag.Get("doc")}
		if c := tag.Get("choices"); c != "" {
			f.Choices = strings.Split(c, ",")
		}
		fields = append(fields, f)
	}
	return fields
}

// parse reads a default, which the tags write as a text.
func parse(t reflect.Type, text string) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(fmt.Sprintf("rehearsal: default %q of a %s", text, t))
		}
		return x
	case reflect.Bool:
		return text == "true"
	case reflect.String:
		return text
	}
	panic(fmt.Sprintf("rehearsal: a parameter of the type %s; want float64, bool or string", t))
}

// With returns the part with other values of parameters, by their names. A number may be an int, too. A zero for a field whose zero value stands
// for the default is out of range, and an error. Of a part by pointer, it returns a changed copy of what that points to.
func With(p Part, values map[string]any) (Part, error) {
	given := reflect.Indirect(reflect.ValueOf(p))
	if given.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a part is a struct whose fields are its parameters, and not a %T", p)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(Fields(p), func(f Field) bool { return f.Name == name }) {
			return nil, fmt.Errorf("part %s has no parameter %q", p.Info().Name, name)
		}
	}
	out := reflect.New(given.Type()).Elem()
	out.Set(given)
	for i := range out.NumField() {
		tag := out.Type().Field(i).Tag
		v, ok := values[tag.Get("param")]
		if !ok {
			continue
		}
		if n, whole := v.(int); whole && slices.Contains([]reflect.Type{reflect.TypeFor[float64](), reflect.TypeFor[*float64]()}, out.Field(i).Type()) {
			v = float64(n)
		}
		if err := set(out.Field(i), v); err != nil {
			return nil, fmt.Errorf("%s: %w", tag.Get("param"), err)
		}
		if out.Field(i).IsZero() && v != parse(out.Field(i).Type(), tag.Get("default")) {
			return nil, fmt.Errorf("%s is %v, which is out of range: %s", tag.Get("param"), v, tag.Get("doc"))
		}
	}
	if part, ok := out.Interface().(Part); ok {
		return part, nil
	}
	return out.Addr().Interface().(Part), nil
}

func set(field reflect.Value, v any) error {
	to := field.Type()
	if to.Kind() == reflect.Pointer {
		to = to.Elem()
	}
	if v == nil || !reflect.TypeOf(v).AssignableTo(to) {
		return fmt.Errorf("%v has the type %T; want %s", v, v, to)
	}
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(to))
		field = field.Elem()
	}
	field.Set(reflect.ValueOf(v))
	return nil
}

// filled returns the part with its defaults in place of the zero values.
func filled[P Part](p P) P {
	out := reflect.ValueOf(&p).Elem()
	for i := range out.NumField() {
		if tag, ok := out.Type().Field(i).Tag.Lookup("default"); ok && out.Field(i).IsZero() {
			if err := set(out.Field(i), parse(out.Field(i).Type(), tag)); err != nil {
				panic(fmt.Sprintf("rehearsal: default of %T: %v", p, err))
			}
		}
	}
	return p
}

package params

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// decodes says whether a parameter may have this type.
func decodes(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Float64, reflect.Uint64, reflect.Bool, reflect.String:
		return true
	}
	return t == reflect.TypeFor[[]int]() || t == reflect.TypeFor[map[string]any]() || isText(t)
}

// isText says whether a type reads and writes itself as a text.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) &&
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// textOf is a value as the text that it writes; ok is false for other types, and for values that
// have no text.
func textOf(v reflect.Value) (text string, ok bool) {
	if !v.IsValid() || !isText(v.Type()) {
		return "", false
	}
	data, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	return string(data), err == nil
}

// valueOf is a decoded value as [Param.Default] has it.
func valueOf(v reflect.Value) any {
	if text, ok := textOf(v); ok {
		return text
	}
	switch v.Kind() {
	case reflect.Int:
		return float64(v.Int())
	case reflect.Float64:
		return v.Float()
	case reflect.Uint64:
		return v.Uint()
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	}
	return v.Interface()
}

// decode turns a value from TOML, JSON, the command line or Go into one of the field's type that is
// allowed.
func (p Param) decode(x any) (v reflect.Value, err error) {
	v = reflect.New(p.kind).Elem()
	if isText(p.kind) {
		text, ok := textOf(reflect.ValueOf(x))
		if !ok {
			text = fmt.Sprint(x)
		}
		return v, v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	}
	switch p.kind.Kind() {
	case reflect.Float64, reflect.Int:
		err = p.decodeNumber(v, x)
	case reflect.Uint64:
		n, wrong := strconv.ParseUint(fmt.Sprint(x), 10, 64)
		if v.SetUint(n); wrong != nil {
			err = fmt.Errorf("%v is not a whole number of at least 0", x)
		}
	case reflect.Bool:
		b, ok := x.(bool)
		if text, isText := x.(string); isText {
			var wrong error
			b, wrong = strconv.ParseBool(text)
			ok = wrong == nil
		}
		if v.SetBool(b); !ok {
			err = fmt.Errorf("want true or false, not %v", x)
		}
	case reflect.String:
		v.SetString(fmt.Sprint(x))
	case reflect.Slice:
		err = decodeInts(v, x)
	default:
		if m, ok := x.(map[string]any); ok || x == "" {
			v.Set(reflect.ValueOf(m))
		} else {
			err = fmt.Errorf("want a table, not %v", x)
		}
	}
	if err == nil {
		err = p.checkGiven(v)
	}
	return v, err
}

func (p Param) decodeNumber(v reflect.Value, x any) error {
	n, ok := x.(float64)
	if !ok {
		var err error
		if n, err = strconv.ParseFloat(fmt.Sprint(x), 64); err != nil {
			return fmt.Errorf("want a number, not %v", x)
		}
	}
	if v.Kind() == reflect.Float64 {
		v.SetFloat(n)
		return nil
	}
	if err := p.within.check(n); err != nil {
		return err
	}
	if n >= 1<<62 {
		return fmt.Errorf("%g is too large for a whole number", n)
	}
	v.SetInt(int64(n))
	return nil
}

// decodeInts reads a list, also as text with commas.
func decodeInts(v reflect.Value, x any) error {
	list, ok := x.([]int)
	if !ok {
		between := func(r rune) bool { return r == ' ' || r == ',' }
		for _, text := range strings.FieldsFunc(strings.Trim(fmt.Sprint(x), "[]"), between) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%v is not a list of whole numbers such as 128,64", x)
			}
			list = append(list, n)
		}
	}
	v.Set(reflect.ValueOf(slices.Clone(list)))
	return nil
}

// checkGiven is check for a value that was given, which may not be a zero that the field could not
// tell from the default.
func (p Param) checkGiven(v reflect.Value) error {
	if v.IsZero() && !p.pointer && !p.required && !reflect.DeepEqual(valueOf(v), p.Default) {
		switch {
		case len(p.Choices) == 0 && v.Kind() == reflect.String:
			return fmt.Errorf("want a text that is not empty")
		case p.within.text == "" && len(p.Choices) == 0:
			return fmt.Errorf("%v is out of range", v)
		}
	}
	return p.check(v)
}

// check returns an error for a value that is out of range, or not among the choices.
func (p Param) check(v reflect.Value) error {
	if isText(v.Type()) {
		text, ok := textOf(v)
		if !ok {
			return fmt.Errorf("%v is not allowed", v)
		}
		return reflect.New(v.Type()).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.Float64:
		return p.within.check(v.Float())
	case reflect.Int:
		return p.within.check(float64(v.Int()))
	case reflect.Slice:
		for _, n := range v.Interface().([]int) {
			if err := p.within.check(float64(n)); err != nil {
				return err
			}
		}
	case reflect.String:
		if len(p.Choices) > 0 && !slices.Contains(p.Choices, v.String()) {
			return fmt.Errorf("%q is not one of %s", v, strings.Join(p.Choices, ", "))
		}
	}
	return nil
}

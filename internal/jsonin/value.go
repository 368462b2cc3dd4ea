package jsonin

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var (
	reader = reflect.TypeFor[json.Unmarshaler]()
	namer  = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// kindOf is what a type is read as: a type that reads JSON for itself as an interface, one that reads a text, or bytes, as a
// string.
func kindOf(t reflect.Type) reflect.Kind {
	switch kind := t.Kind(); {
	case reflect.PointerTo(t).Implements(reader):
		return reflect.Interface
	case reflect.PointerTo(t).Implements(namer), kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return reflect.String
	default:
		return kind
	}
}

func (d *Decoder) value(at place, v reflect.Value) error {
	switch kindOf(v.Type()) {
	case reflect.Interface:
		return d.syntax(at, d.in.Decode(v.Addr().Interface()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(at, v.Elem())
	case reflect.Struct:
		return d.structure(at, v)
	case reflect.Map:
		return d.mapping(at, v)
	case reflect.Slice:
		return d.slice(at, v)
	}
	return d.scalar(at, v)
}

func (d *Decoder) structure(at place, v reflect.Value) error {
	var known []string
	var index [][]int
	for _, field := range reflect.VisibleFields(v.Type()) { // also those of embedded structs, as encoding/json has it
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() || field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct {
			continue
		}
		if name == "" {
			name = field.Name
		}
		known, index = append(known, name), append(index, field.Index)
	}
	return d.object(at, func(key string) error {
		i := slices.Index(known, key)
		if i < 0 {
			return at.errorf("unknown key %q; known are %s", key, strings.Join(known, ", "))
		}
		return d.value(at.key(key), v.FieldByIndex(index[i]))
	})
}

// mapping reads a map, whose keys are texts or whole numbers. null is how Go writes an empty one.
func (d *Decoder) mapping(at place, v reflect.Value) error {
	t := v.Type()
	if bytes.HasPrefix(d.rest(), []byte("null")) {
		v.SetZero()
		_, err := d.raw(at)
		return err
	}
	v.Set(reflect.MakeMap(t))
	return d.object(at, func(name string) error {
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if key.Kind() == reflect.Int {
			n, err := strconv.Atoi(name)
			if err != nil || strconv.Itoa(n) != name {
				return at.errorf("the key %q is not a whole number", name)
			}
			key.SetInt(int64(n))
		} else {
			key.SetString(name)
		}
		if err := d.value(at.key(name), value); err != nil {
			return err
		}
		v.SetMapIndex(key, value)
		return nil
	})
}

// slice reads a list of numbers at once, since there may be millions of them, and other lists entry by entry.
func (d *Decoder) slice(at place, v reflect.Value) error {
	entries, word := d, "entry"
	switch kindOf(v.Type().Elem()) {
	case reflect.Slice:
		word = "row"
	case reflect.Int, reflect.Float32, reflect.Float64:
		rest := d.rest()
		if d.in.Decode(v.Addr().Interface()) == nil && !bytes.Contains(rest[:len(rest)-len(d.text)+int(d.in.InputOffset())], []byte("null")) {
			return nil
		}
		entries = NewDecoder(rest) // once more, for the place of what is wrong
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return entries.list(at, func(i int) error {
		entry := reflect.New(v.Type().Elem()).Elem()
		err := entries.value(at.item(word, i), entry)
		v.Set(reflect.Append(v, entry))
		return err
	})
}

func (d *Decoder) scalar(at place, v reflect.Value) error {
	text, err := d.raw(at)
	if err != nil {
		return err
	}
	switch err := json.Unmarshal(text, v.Addr().Interface()); {
	case string(text) == "null" || err != nil && (text[0] != '"' || kindOf(v.Type()) != reflect.String):
		return at.errorf("%s is not %s", shown(text), wanted(v.Type()))
	case err != nil:
		return at.errorf("%w", err) // of base64, or of a type that reads the text
	}
	return nil
}

// wrong returns the error that the next value is not what is wanted.
func (d *Decoder) wrong(at place, wanted string) error {
	text, err := d.raw(at)
	if err != nil {
		return err
	}
	return at.errorf("%s is not %s", shown(text), wanted)
}

// shown returns a value in a form in which the reader of a message can recognise it.
func shown(text json.RawMessage) string {
	switch text[0] {
	case '"':
		var s string
		_ = json.Unmarshal(text, &s) // it is valid
		return fmt.Sprintf("the text %q", abridged([]byte(s)))
	case '[':
		return "a list"
	case '{':
		return "an object"
	}
	return abridged(text)
}

func wanted(t reflect.Type) string {
	switch kind := kindOf(t); kind {
	case reflect.String:
		return "a text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32:
		return "a number up to 3.4e+38"
	case reflect.Float64:
		return "a number up to 1.8e+308"
	default:
		least, bits := "", t.Bits()-1
		if kind >= reflect.Uint {
			least, bits = " of 0 or more", t.Bits()
		}
		return fmt.Sprintf("a whole number%s, written without point and exponent, below 2^%d", least, bits)
	}
}

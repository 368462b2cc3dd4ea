package jsonin

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// explain compares a JSON text with the type that it is to be read into, and returns an error that names the first
// place where they differ, or nil if there is none.
func explain(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return err
	}
	return differ("", value, reflect.TypeOf(v).Elem())
}

var (
	reader = reflect.TypeFor[json.Unmarshaler]()
	namer  = reflect.TypeFor[encoding.TextUnmarshaler]()
	raw    = reflect.TypeFor[json.RawMessage]()
)

func differ(at place, value any, t reflect.Type) error {
	if t == raw || reflect.PointerTo(t).Implements(reader) {
		return nil // it reads for itself
	}
	kind := t.Kind()
	if reflect.PointerTo(t).Implements(namer) {
		kind = reflect.String // it reads a text
	}
	switch kind {
	case reflect.Pointer:
		return differ(at, value, t.Elem())
	case reflect.Struct:
		return differStruct(at, value, t)
	case reflect.Map:
		return differMap(at, value, t)
	case reflect.Slice, reflect.Array:
		return differList(at, value, t)
	case reflect.String:
		if _, ok := value.(string); !ok {
			return at.wrong(value, "a text in quotes")
		}
	case reflect.Bool:
		if _, ok := value.(bool); !ok {
			return at.wrong(value, "true or false")
		}
	case reflect.Float32, reflect.Float64:
		return differNumber(at, value, t)
	default:
		return differWhole(at, value, t)
	}
	return nil
}

func differStruct(at place, value any, t reflect.Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return at.wrong(value, "an object in braces")
	}
	var known []string
	for _, field := range reflect.VisibleFields(t) { // also those of embedded structs, as encoding/json has it
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() || field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct {
			continue
		}
		if name == "" {
			name = field.Name
		}
		known = append(known, name)
		for _, key := range sortedKeys(object) {
			if !strings.EqualFold(key, name) { // as encoding/json compares them
				continue
			}
			if err := differ(at.key(name), object[key], field.Type); err != nil {
				return err
			}
		}
	}
	for _, name := range sortedKeys(object) {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			return at.errorf("unknown key %q; known are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

func differMap(at place, value any, t reflect.Type) error {
	if value == nil {
		return nil // this is how Go writes an empty one
	}
	object, ok := value.(map[string]any)
	if !ok {
		return at.wrong(value, "an object in braces")
	}
	for _, name := range sortedKeys(object) {
		if _, err := strconv.Atoi(name); err != nil && t.Key().Kind() == reflect.Int {
			return at.errorf("the key %q is not a whole number", name)
		}
		if err := differ(at.key(name), object[name], t.Elem()); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for name := range object {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	return keys
}

func differList(at place, value any, t reflect.Type) error {
	if t.Elem().Kind() == reflect.Uint8 { // bytes, in base64
		if _, ok := value.(string); !ok {
			return at.wrong(value, "a text in quotes")
		}
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		return at.wrong(value, "a list in brackets")
	}
	word := "entry"
	if t.Elem().Kind() == reflect.Slice {
		word = "row"
	}
	for i, v := range list {
		if err := differ(at.item(word, i), v, t.Elem()); err != nil {
			return err
		}
	}
	return nil
}

func differNumber(at place, value any, t reflect.Type) error {
	n, ok := value.(json.Number)
	if !ok {
		return at.wrong(value, "a number")
	}
	if _, err := strconv.ParseFloat(string(n), t.Bits()); err != nil {
		largest := math.MaxFloat64
		if t.Bits() == 32 {
			largest = math.MaxFloat32
		}
		return at.errorf("%s is too large; numbers go up to %.2g", abridged([]byte(n)), largest)
	}
	return nil
}

func differWhole(at place, value any, t reflect.Type) error {
	n, ok := value.(json.Number)
	if !ok {
		return at.wrong(value, "a whole number")
	}
	var err error
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
		_, err = strconv.ParseUint(string(n), 10, t.Bits())
	} else {
		_, err = strconv.ParseInt(string(n), 10, t.Bits())
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return at.errorf("%s is too large", abridged([]byte(n)))
	case err != nil && strings.HasPrefix(string(n), "-") && !strings.ContainsAny(string(n), ".eE"):
		return at.errorf("%s is negative", abridged([]byte(n)))
	case err != nil:
		return at.errorf("%s is not a whole number, written without point and exponent", abridged([]byte(n)))
	}
	return nil
}

// wrong returns the error that a value is not what is wanted at its place.
func (p place) wrong(value any, wanted string) error {
	return p.errorf("%s is not %s", shown(value), wanted)
}

// shown returns a value in a form in which the reader of a message can recognise it.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the text %q", abridged([]byte(v)))
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(value)
}

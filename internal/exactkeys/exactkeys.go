// Package exactkeys refuses keys of a TOML text that are not written as the fields that they are read into. TOML tells
// upper from lower case, but the decoder takes Seed for seed; a file with both would have one of them forgotten in silence.
package exactkeys

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
)

// Check returns an error that names the first such key of a text that was decoded into v. Unknown keys are no concern of
// it: meta.Undecoded lists them.
func Check(meta toml.MetaData, v any) error {
	for _, key := range meta.Keys() {
		t := reflect.TypeOf(v)
		for i, part := range key {
			field, exact := find(t, part)
			if field == "" {
				break // unknown, or not the key of a struct
			}
			if field != part {
				return fmt.Errorf("unknown key %q: it is written %s", toml.Key(key[:i+1]), field)
			}
			t = exact
		}
	}
	return nil
}

// find returns the name that a key of t should have, and the type of its value. The name is empty if there is no such key.
func find(t reflect.Type, key string) (name string, value reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Map:
		return key, t.Elem()
	case reflect.Struct:
	default:
		return "", nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		own, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		switch {
		case f.Anonymous && own == "":
			if inner, value := find(f.Type, key); inner == key {
				return inner, value
			} else if inner != "" {
				name = inner
			}
			continue
		case own == "" || own == "-":
			continue
		case own == key:
			return own, f.Type
		case strings.EqualFold(own, key):
			name = own
		}
	}
	return name, nil
}

package experiment

import (
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"
)

// keysBeside returns the keys of a configuration file that are known where an unknown one was found, such as those of
// the table "optimizer" for "optimizer.decay".
func keysBeside(unknown toml.Key) []string {
	of := reflect.TypeFor[Config]()
	for _, table := range unknown[:len(unknown)-1] {
		field, found := fieldOf(of, table)
		if !found || field.Type.Kind() != reflect.Struct {
			break
		}
		of = field.Type
	}
	var keys []string
	for i := range of.NumField() {
		if key := of.Field(i).Tag.Get("toml"); key != "" && key != "-" {
			keys = append(keys, key)
		}
	}
	if of == reflect.TypeFor[Config]() {
		keys = append(keys, "init", "scenario")
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func fieldOf(of reflect.Type, key string) (reflect.StructField, bool) {
	return of.FieldByNameFunc(func(name string) bool {
		f, _ := of.FieldByName(name)
		return f.Tag.Get("toml") == key
	})
}

package grid

import (
	"fmt"
	"maps"
	"slices"
)

// checkKeys returns an error that names the first key of a grid whose value is of the wrong type. The decoder would name
// lines of the merged text, which nobody wrote, and types of Go, and would take a number for an empty table.
func checkKeys(text table) error {
	for _, key := range slices.Sorted(maps.Keys(text)) {
		is, known := keyTypes[key]
		if known && !is.holds(text[key]) {
			return fmt.Errorf("%s is %s: want %s", key, valueText(text[key]), is.want)
		}
	}
	for _, key := range []string{"dataset", "method"} {
		entries, _ := text[key].(table)
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if settings := entries[name]; !isSettings.holds(settings) {
				return fmt.Errorf("%s.%q is %s: want %s", key, name, valueText(settings), isSettings.want)
			}
		}
	}
	return nil
}

// keyType is what the value of a key has to be.
type keyType struct {
	want  string // in words, with an example
	holds func(value any) bool
}

var (
	isText     = keyType{`a text in quotes`, is[string]}
	isTexts    = keyType{`a list of texts in quotes, such as ["a", "b"]`, listOf(is[string])}
	isSeeds    = keyType{`a list of whole numbers that are not negative, such as [0, 1, 2]`, listOf(notNegative)}
	isSettings = keyType{`a table of settings, such as { batch = 16 }`, is[table]}
	isLists    = keyType{`a table of lists, such as { batch = [16, 32] }`, is[table]}
	isEntries  = keyType{`a table of settings for each name, such as { "a" = { batch = 16 } }`, is[table]}
)

var keyTypes = map[string]keyType{
	"title": isText, "paper": isText,
	"datasets": isTexts, "methods": isTexts, "increments": isTexts,
	"labelsets": isSeeds, "timelines": isSeeds, "seeds": isSeeds,
	"set": isSettings, "vary": isLists,
	"dataset": isEntries, "method": isEntries,
}

func is[T any](value any) bool {
	_, ok := value.(T)
	return ok
}

func notNegative(value any) bool {
	n, ok := value.(int64)
	return ok && n >= 0
}

func listOf(holds func(any) bool) func(any) bool {
	return func(value any) bool {
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool { return !holds(v) })
	}
}

package grid

import (
	"fmt"
	"maps"
	"slices"
)

// key is one of the keys of a grid: what its value has to be, in words, and what takes it, if it is
// that.
type key struct {
	want string
	take func(g *Grid, value any) bool
}

const (
	wantText     = `a text in quotes`
	wantTexts    = `a list of texts in quotes, such as ["a", "b"]`
	wantSeeds    = `a list of whole numbers that are not negative, such as [0, 1, 2]`
	wantSettings = `a table of settings, such as { batch = 16 }`
	wantLists    = `a table of lists, such as { batch = [16, 32] }`
	wantEntries  = `a table of settings for each name, such as { "a" = { batch = 16 } }`
)

var keys = map[string]key{
	"title":      {wantText, func(g *Grid, v any) bool { return is(&g.Title, v) }},
	"paper":      {wantText, func(g *Grid, v any) bool { return is(&g.Paper, v) }},
	"datasets":   {wantTexts, func(g *Grid, v any) bool { return texts(&g.Datasets, v) }},
	"methods":    {wantTexts, func(g *Grid, v any) bool { return texts(&g.Methods, v) }},
	"increments": {wantTexts, func(g *Grid, v any) bool { return texts(&g.Increments, v) }},
	"labelsets":  {wantSeeds, func(g *Grid, v any) bool { return seeds(&g.LabelSets, v) }},
	"timelines":  {wantSeeds, func(g *Grid, v any) bool { return seeds(&g.Timelines, v) }},
	"seeds":      {wantSeeds, func(g *Grid, v any) bool { return seeds(&g.Seeds, v) }},
	"set":        {wantSettings, func(g *Grid, v any) bool { return is(&g.Set, v) }},
	"vary":       {wantLists, func(g *Grid, v any) bool { return is(&g.Vary, v) }},
	"dataset":    {wantEntries, func(g *Grid, v any) bool { return entries(&g.Dataset, v) }},
	"method":     {wantEntries, func(g *Grid, v any) bool { return entries(&g.Method, v) }},
}

// gridOf returns the grid that a table describes. Settings of runs are checked with the
// configurations.
func gridOf(text table) (*Grid, error) {
	g := new(Grid)
	for _, name := range slices.Sorted(maps.Keys(text)) {
		k, known := keys[name]
		if !known {
			return nil, fmt.Errorf("unknown key %q", name)
		}
		if !k.take(g, text[name]) {
			return nil, fmt.Errorf("%s is %s: want %s", name, valueText(text[name]), k.want)
		}
	}
	return g, nil
}

func is[T any](into *T, value any) (ok bool) {
	*into, ok = value.(T)
	return ok
}

// list takes a list by one of its values after another.
func list(value any, take func(any) bool) bool {
	all, ok := value.([]any)
	return ok && !slices.ContainsFunc(all, func(v any) bool { return !take(v) })
}

func texts[T ~string](into *[]T, value any) bool {
	return list(value, func(v any) bool {
		s, ok := v.(string)
		*into = append(*into, T(s))
		return ok
	})
}

func seeds(into *[]uint64, value any) bool {
	return list(value, func(v any) bool {
		n, ok := v.(int64)
		*into = append(*into, uint64(n))
		return ok && n >= 0
	})
}

func entries(into *map[string]table, value any) bool {
	all, ok := value.(table)
	*into = map[string]table{}
	for name, v := range all {
		inner, isTable := v.(table)
		(*into)[name], ok = inner, ok && isTable
	}
	return ok
}

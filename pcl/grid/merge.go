package grid

import (
	"maps"
	"strings"
)

// merged returns the tables as one. Where several have a value, that of the last one counts; tables
// within them are merged in the same way.
func merged(tables ...table) table {
	out := table{}
	for _, t := range tables {
		for name, value := range t {
			under, isTable := out[name].(table)
			over, both := value.(table)
			if isTable && both {
				value = merged(under, over)
			}
			out[name] = value
		}
	}
	return out
}

// at returns a table that has only the value at a path such as "params.tau". All that follows
// "params" is one name, since names of parameters have dots themselves: "params.der-pp.alpha".
func at(path string, value any) table {
	first, rest, nested := strings.Cut(path, ".")
	switch {
	case nested && first == "params":
		value = table{rest: value}
	case nested:
		value = at(rest, value)
	}
	return table{first: value}
}

// leaves returns the values of a table and of those within it by their paths, such as
// "optimizer.lr".
func leaves(t table) table {
	out := table{}
	for name, value := range t {
		inner, nested := value.(table)
		if !nested {
			out[name] = value
		}
		for path, v := range leaves(inner) {
			out[name+"."+path] = v
		}
	}
	return out
}

// without returns a table without some of its keys.
func without(t table, names ...string) table {
	t = maps.Clone(t)
	for _, n := range names {
		delete(t, n)
	}
	return t
}

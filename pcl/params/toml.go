package params

import (
	"fmt"
	"slices"
	"strings"
)

// TOML writes a file with the defaults, and the documentation beside them. Keys that are empty by default are commented out.
func TOML(list []Param) string {
	var text strings.Builder
	var tables []string
	for _, p := range list {
		if t, _ := p.place(); !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	slices.SortStableFunc(tables, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) }) // keys of no table come first
	for _, table := range tables {
		if table != "" {
			fmt.Fprintf(&text, "\n[%s]\n", table)
		}
		for _, p := range list {
			if t, key := p.place(); t == table {
				p.line(&text, key)
			}
		}
	}
	return strings.TrimPrefix(text.String(), "\n")
}

// place cuts the name into a table and a key.
func (p Param) place() (table, key string) {
	i := strings.LastIndexByte(p.Name, '.')
	return p.Name[:max(i, 0)], p.Name[i+1:]
}

func (p Param) line(text *strings.Builder, key string) {
	line, more := "", ""
	switch v := p.Default.(type) {
	case string:
		line = fmt.Sprintf("%s = %q", key, v)
		if v == "" {
			line = "# " + line
		}
	case map[string]any:
		line = "# " + key + " = {}"
	case []int:
		line = key + " = " + strings.Join(strings.Fields(fmt.Sprint(v)), ", ")
	default:
		line = fmt.Sprintf("%s = %v", key, v)
	}
	if len(p.Choices) > 0 {
		more = "; one of " + strings.Join(p.Choices, ", ")
	}
	fmt.Fprintf(text, "%-32s # %s%s\n", line, p.Doc, more)
}

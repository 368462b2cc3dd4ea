package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// tomlOf writes a file with the defaults, and the documentation beside them. Keys that are empty by
// default are commented out.
func tomlOf(list []params.Param) string {
	var text strings.Builder
	var tables []string
	for _, p := range list {
		if t, _ := place(p); !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	// keys of no table come first
	slices.SortStableFunc(tables, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) })
	for _, table := range tables {
		if table != "" {
			fmt.Fprintf(&text, "\n[%s]\n", table)
		}
		for _, p := range list {
			if t, key := place(p); t == table {
				line(&text, p, key)
			}
		}
	}
	return strings.TrimPrefix(text.String(), "\n")
}

// place cuts a name into a table and a key.
func place(p params.Param) (table, key string) {
	i := strings.LastIndexByte(p.Name, '.')
	return p.Name[:max(i, 0)], p.Name[i+1:]
}

func line(text *strings.Builder, p params.Param, key string) {
	own, more := "", ""
	switch v := p.Default.(type) {
	case string:
		own = fmt.Sprintf("%s = %q", key, v)
		if v == "" {
			own = "# " + own
		}
	case map[string]any:
		own = "# " + key + " = {}"
	case []int:
		own = key + " = " + strings.Join(strings.Fields(fmt.Sprint(v)), ", ")
	default:
		own = fmt.Sprintf("%s = %v", key, v)
	}
	if len(p.Choices) > 0 {
		more = "; one of " + strings.Join(p.Choices, ", ")
	}
	fmt.Fprintf(text, "%-32s # %s%s\n", own, p.Doc, more)
}

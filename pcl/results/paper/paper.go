// Package paper has the numbers of the paper's tables as data.
//
// The tables are those of F. Lyu, W. Feng and others, "Elastic Multi-Gradient Descent for Parallel Continual Learning"
// (arXiv:2401.01054, 2024), Tables 1 to 6, in long form: one line for each number. Columns are
// table, source_line (of the paper's LaTeX source), setting, increment, method, type, dataset, metric, mean, std and
// bold_in_paper; names are spelt as the paper spells them. "-" in the paper is an empty mean.
package paper

import (
	"embed"
	"encoding/csv"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed tables/*.csv
var files embed.FS

// Number is an entry of a table.
type Number struct {
	Table string // e.g. "Table 1"
	// Increment is "task" or "class", or "unstated" in Tables 5 and 6. Their values are those of the task increment:
	// 70 % and more on Split-CIFAR-10 with 300 samples in memory.
	Increment string
	Method    string
	Dataset   string
	// Metric is "A" or "F". In Tables 3 and 4 the paper's heading of A is A_first; that cannot be, since A − |F| would be
	// negative.
	Metric    string
	Mean, Std float64 // %
	None      bool    // the paper has "-"
}

// CountsAs is the increment whose results the number is compared with: Increment, or "task" where that is unstated.
func (n Number) CountsAs() string {
	if n.Increment == "unstated" {
		return "task"
	}
	return n.Increment
}

// Names returns the names of the tables in their order.
func Names() []string {
	return []string{"Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Table 6"}
}

// Table returns the numbers of a table, in the paper's order. There are none of an unknown one.
func Table(name string) []Number { return tables()[name] }

// Find returns a number of a table, and whether it is there. The increment of Tables 5 and 6 is taken for "task".
func Find(table, increment, method, dataset, metric string) (Number, bool) {
	all := tables()[table]
	i := slices.IndexFunc(all, func(n Number) bool {
		return n.Method == method && n.Dataset == dataset && n.Metric == metric && !n.None &&
			n.CountsAs() == increment
	})
	if i < 0 {
		return Number{}, false
	}
	return all[i], true
}

// In returns the names of the tables that a text begins with, such as "Tables 1 and 2" or "Table 3 (20 epochs)". Only
// the numbers directly after the first word count.
func In(text string) (names []string) {
	named := number.FindAllString(listed.FindString(text), -1)
	for _, name := range Names() {
		if slices.Contains(named, strings.TrimPrefix(name, "Table ")) {
			names = append(names, name)
		}
	}
	return names
}

var (
	listed = regexp.MustCompile(`^Tables?(\s*,?\s*(and\s+)?\b\d+\b)+`)
	number = regexp.MustCompile(`\d+`)
)

// tables reads the files, which are part of the program.
var tables = sync.OnceValue(func() map[string][]Number {
	out := map[string][]Number{}
	for _, name := range Names() {
		paths, err := fs.Glob(files, "tables/table"+strings.TrimPrefix(name, "Table ")+"_*.csv")
		must(err)
		f, err := files.Open(paths[0])
		must(err)
		lines, err := csv.NewReader(f).ReadAll()
		must(err)
		for _, line := range lines[1:] {
			value := func(column string) string { return line[slices.Index(lines[0], column)] }
			n := Number{
				Table: name, Increment: value("increment"), Method: value("method"), Dataset: value("dataset"),
				Metric: value("metric")[:1], None: value("mean") == "",
			}
			if !n.None {
				n.Mean, err = strconv.ParseFloat(value("mean"), 64)
				must(err)
				n.Std, err = strconv.ParseFloat(value("std"), 64)
				must(err)
			}
			out[name] = append(out[name], n)
		}
	}
	return out
})

func must(err error) {
	if err != nil {
		panic(err)
	}
}

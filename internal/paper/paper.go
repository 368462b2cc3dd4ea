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

	"github.com/parallelcl/parallelcl/pcl/results"
)

// The tables are those of F. Lyu, W. Feng and others, "Elastic Multi-Gradient Descent for Parallel
// Continual Learning" (arXiv:2401.01054, 2024), Tables 1 to 6, in long form: one line for each
// number. Columns are table, source_line (of the paper's LaTeX source), setting, increment, method,
// type, dataset, metric, mean, std and bold_in_paper; names are spelt as the paper spells them. "-"
// in the paper is an empty mean.
//
//go:embed tables/*.csv
var paperFiles embed.FS

// paperTables are the names of the tables in their order.
var paperTables = []string{"Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Table 6"}

// place is a column of one of the paper's tables.
type place struct{ table, dataset, increment string }

func (p place) String() string { return p.table + ", " + p.dataset }

// Number is a number of the paper, in percent.
type Number struct{ Mean, Std float64 }

// printed is an entry of the paper's tables.
type printed struct {
	place
	method string
	// A or F. In Tables 3 and 4 the heading of A is A_first; that cannot be, since A − |F| would be
	// negative
	metric string
	number *Number // nil where the paper has "-"
}

// embedded is a value of a file of this package, in which nothing can be wrong unless the program
// was built wrongly.
func embedded[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// inPaper returns what the tables have, in the paper's order. The increment of Tables 5 and 6,
// which do not state one, is that of tasks: they have 70 % and more on Split-CIFAR-10 with 300
// samples in memory.
var inPaper = sync.OnceValue(func() (out []printed) {
	for _, table := range paperTables {
		name := embedded(fs.Glob(paperFiles, "tables/table"+strings.TrimPrefix(table, "Table ")+"_*.csv"))[0]
		lines := embedded(csv.NewReader(embedded(paperFiles.Open(name))).ReadAll())
		for _, line := range lines[1:] {
			value := func(column string) string { return line[slices.Index(lines[0], column)] }
			increment := strings.Replace(value("increment"), "unstated", "task", 1)
			p := printed{place: place{table, value("dataset"), increment}, method: value("method"), metric: value("metric")[:1]}
			if value("mean") != "" {
				p.number = &Number{embedded(strconv.ParseFloat(value("mean"), 64)), embedded(strconv.ParseFloat(value("std"), 64))}
			}
			out = append(out, p)
		}
	}
	return out
})

// find returns the paper's number for a method, or nil.
func find(at place, method string, m *results.Metric) *Number {
	for _, p := range inPaper() {
		if p.place == at && p.method == method && p.metric == m.Name {
			return p.number
		}
	}
	return nil
}

// placesOf are the columns of a table.
func placesOf(table string) (out []place) {
	for _, p := range inPaper() {
		if p.table == table && !slices.Contains(out, p.place) {
			out = append(out, p.place)
		}
	}
	return out
}

var (
	listed = regexp.MustCompile(`^Tables?(\s*,?\s*(and\s+)?\b\d+\b)+`)
	digits = regexp.MustCompile(`\d+`)
)

// tablesIn returns the names of the tables that a text begins with, such as "Tables 1 and 2" or
// "Table 3 (20 epochs)". Only the numbers directly after the first word count.
func tablesIn(text string) (names []string) {
	named := digits.FindAllString(listed.FindString(text), -1)
	for _, name := range paperTables {
		if slices.Contains(named, strings.TrimPrefix(name, "Table ")) {
			names = append(names, name)
		}
	}
	return names
}

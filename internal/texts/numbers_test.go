package texts

import (
	"strings"
	"testing"
)

// tableAfter returns the lines of the first table after a line of a text that begins in a given way, and the names of its
// columns. Each line begins with a method.
func tableAfter(t *testing.T, text, before string) (columns []string, lines [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n"+before)
	if !found {
		t.Fatalf("no line begins with %q", before)
	}
	_, rest, _ = strings.Cut(rest, "\n| method |")
	first, rest, _ := strings.Cut(rest, "\n")
	_, rest, _ = strings.Cut(rest, "\n") // dashes
	for l := range strings.Lines(rest) {
		if !strings.HasPrefix(l, "|") {
			break
		}
		lines = append(lines, cells(strings.TrimPrefix(l, "|")))
	}
	return cells("method |" + first), lines
}

func cells(line string) []string {
	out := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")
	for i, c := range out {
		out[i] = strings.TrimSpace(strings.NewReplacer("*", "", "★", "", "`", "").Replace(c))
	}
	return out
}

// inReproduction has the names of REPRODUCTION.md for those that other texts use.
var inReproduction = map[string]string{
	"emgd":                           "EMGD (recommended)",
	"the mean with emgd's rehearsal": "AvgGrad with emgd's rehearsal",
	"mean, same rehearsal":           "AvgGrad with emgd's rehearsal",
	"emgd-gmc+der-pp":                "EMGD(GMC) + DER++",
	"avggrad+der-pp":                 "AvgGrad + DER++",
	"EMGD (GMC)":                     "EMGD(GMC)",
	"EMGD (GMC) + ME":                "EMGD(GMC)+ME",
	"EMGD (GS)":                      "EMGD(GS)",
	"EMGD (GS) + ME":                 "EMGD(GS)+ME",
	"A-GEM":                          "AGEM",
	"emgd-gmc":                       "EMGD(GMC)",
	"emgd-log":                       "EMGD (log GMC)",
	"maxdo-minmax":                   "MaxDO (min-max)",
	"mega-release":                   "MEGA",
	"nash-mtl":                       "Nash-MTL",
	"config":                         "ConFIG",
	"avggrad":                        "AvgGrad",
	"der-pp":                         "DER++",
	"gradnorm":                       "GradNorm",
	"mgda":                           "MGDA",
	"pcgrad":                         "PCGrad",
}

// TestTablesAreThoseOfReproduction: the tables of results in other texts have the numbers of REPRODUCTION.md, which is
// made from the results themselves.
func TestTablesAreThoseOfReproduction(t *testing.T) {
	const class, task = "class-incremental", "task-incremental"
	type column struct{ increment, name string } // in REPRODUCTION.md
	for _, c := range []struct {
		file, before string // the line that the table follows
		grids        []string
		data         string
		columns      map[int]column
	}{
		{"README.md", "## Results", []string{"best-test-split"}, "PS-EMNIST (test split)", map[int]column{
			1: {class, "A"}, 2: {class, "A, tuned"}, 3: {class, "A, paper"}, 4: {class, "F"},
			5: {task, "A"}, 6: {task, "A, tuned"}, 7: {task, "A, paper"}, 8: {task, "F"},
		}},
		{"docs/results.md", "## Every method", []string{"presets-test-split"}, "PS-EMNIST (test split)", map[int]column{1: {class, "A"}, 2: {task, "A"}}},
		{"docs/results.md", "## Every method", []string{"presets-glyphs"}, "glyphs", map[int]column{3: {class, "A"}, 4: {task, "A"}}},
		{"docs/results.md", "**On `glyphs`**", []string{"recommended-glyphs"}, "glyphs", map[int]column{
			1: {class, "A"}, 2: {class, "F"}, 5: {task, "A"}, 6: {task, "F"},
		}},
		{"docs/results.md", "**On CIFAR-100**", []string{"recommended-cifar"}, "CIFAR-100 (10 tasks, 150 per class, width 8)", map[int]column{
			1: {class, "A"}, 2: {class, "F"}, 5: {task, "A"}, 6: {task, "F"},
		}},
		{"docs/results.md", "    pcl tune --size tables", []string{"best-test-split-tuned", "rivals-test-split-tuned"}, "PS-EMNIST (test split)", map[int]column{
			1: {class, "A"}, 2: {class, "F"}, 6: {task, "A"}, 7: {task, "F"},
		}},
	} {
		made := map[string]map[column]string{} // by method
		for _, grid := range c.grids {
			for _, increment := range []string{class, task} {
				names, lines := tableAfter(t, reproduced(t, grid), "### "+c.data+", "+increment)
				for _, line := range lines {
					if made[line[0]] == nil {
						made[line[0]] = map[column]string{}
					}
					for i, name := range names {
						made[line[0]][column{increment, name}] = line[i]
					}
				}
			}
		}
		_, lines := tableAfter(t, read(t, c.file), c.before)
		if len(lines) < 5 {
			t.Errorf("%s, after %q: a table of %d methods", c.file, c.before, len(lines))
		}
		for _, line := range lines {
			method := line[0]
			if name, ok := inReproduction[method]; ok {
				method = name
			}
			for i, column := range c.columns {
				want, ok := made[method][column]
				if !ok || line[i] != want && !strings.HasPrefix(want, line[i]+" ± ") {
					t.Errorf("%s: %s, %s: %s is %q, and %q in REPRODUCTION.md", c.file, line[0], column.increment, column.name, line[i], want)
				}
			}
		}
	}
}

// reproduced returns REPRODUCTION.md from the results of a grid on.
func reproduced(t *testing.T, grid string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, "REPRODUCTION.md"), " ("+grid+")\n")
	if !found {
		t.Fatalf("REPRODUCTION.md has no section %s", grid)
	}
	return text
}

package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/paper"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/viz/report"
)

// sampleGrids are invented results: Table 1 with published and tuned values, Table 2, both sweeps,
// and a control.
func sampleGrids() (all []*rows.Row) {
	names := []string{
		"AvgGrad", "MGDA", "GradNorm", "DWA", "PCGrad", "RLW", "AGEM", "GMED", "ER", "MEGA", "MDMTR", "DER++", "MaxDO",
		"EMGD(GMC)", "EMGD(GMC)+ME", "EMGD(GS)", "EMGD(GS)+ME",
	}
	methods := invented.Methods(names, 70, -0.9)
	table1 := invented.Grid{
		Name: "table1-test-split", Title: "Parallel continual learning, task-incremental", Paper: "Table 1",
		Size:     "test-split",
		Datasets: [][2]string{{"PS-EMNIST (test split)", "PS-EMNIST"}}, Increments: []string{"task"}, Methods: methods,
		LabelSets: 3, Timelines: 3, Seeds: 3,
	}
	tuned := table1
	tuned.Name, tuned.Title, tuned.Methods = table1.Name+"-tuned", table1.Title+", with tuned values",
		invented.Methods(names, 76, -0.5)
	table2 := table1
	table2.Name, table2.Title, table2.Paper, table2.Increments = "table2-test-split",
		"Parallel continual learning, class-incremental", "Table 2", []string{"class"}
	table2.Methods = invented.Methods([]string{"EMGD(GMC)", "EMGD(GS)", "MGDA", "AvgGrad", "AGEM"}, 88, 2)
	memory := table1
	memory.Name, memory.Title, memory.Paper, memory.Increments = "memory-test-split", "Size of the memory", "Figure 5",
		[]string{"task", "class"}
	memory.Methods, memory.Vary, memory.Values = methods[13:], "memory.budget", []string{"62", "310", "1240", "6200"}
	temperature := memory
	temperature.Name, temperature.Title, temperature.Paper = "temperature-test-split",
		"Temperature of the elastic factors", "Figure 8"
	temperature.Methods, temperature.Vary, temperature.Values = []invented.Method{methods[13], methods[15]}, "params.tau",
		[]string{"0.1", "1", "5", "20", "inf"}
	controls := table1
	controls.Name, controls.Title, controls.Paper = "controls-test-split", "Controls", ""
	controls.Methods = []invented.Method{
		{Name: "AvgGrad", Paper: "AvgGrad", Run: "avggrad", A: 80},
		{Name: "EMGD(GMC)", Paper: "EMGD(GMC)", Run: "emgd-gmc", A: 84},
		{Name: "EMGD(GMC), mean scale", Run: "emgd-gmc", A: 82}, {Name: "EMGD (recommended)", Run: "emgd", A: 85},
	}
	for _, g := range []invented.Grid{table1, tuned, table2, memory, temperature, controls} {
		all = append(all, g.Rows()...)
	}
	return all
}

func gridsPage(t *testing.T, all []*rows.Row) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "notes.toml"), []byte(`"Table 3" = "It takes a GPU."`), 0o666))
	f, err := paper.New(all, dir)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	err = report.Runs(t.Context(), &page, report.RunsInput{Findings: f, Origin: report.Origin{Command: "pcl report"}})
	if err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func TestGrids(t *testing.T) {
	page := gridsPage(t, sampleGrids())
	gridsLinks(t, page)
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"#][^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "data:") && m[1] != "https://arxiv.org/abs/2401.01054" {
			t.Errorf("the page has %.80s", m[1])
		}
	}
	for _, want := range []string{
		"Table 1: Parallel continual learning, task-incremental (table1-test-split)",
		"pcl grid run table1 --size test-split --tuned --backend xla-cpu",
		"Accuracy and the memory’s size", "Accuracy and the temperature", "Accuracy as tasks end", "Performance profiles",
		"Ranks, PS-EMNIST (test split), class-incremental",
		"A, tuned", "89.34 ±\u00a00.23",
		"It takes a GPU.", "PS-CIFAR-100, task-incremental", "With weights that add up to 1, EMGD",
	} {
		if !strings.Contains(strings.ReplaceAll(page, "&#39;", "’"), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// The others are compared with EMGD's recommended method where a grid has it, and else with its
	// kin.
	if one, others := strings.Count(page, ">− EMGD (recommended)<"), strings.Count(page, ">− EMGD(GMC)<"); one != 1 ||
		others < 3 {
		t.Errorf("%d comparisons with the recommended method and %d with EMGD(GMC)", one, others)
	}
	if strings.Contains(page, "Left out:") {
		t.Error("a figure could not be drawn")
	}
	// Table 1 has 17 methods, published and tuned, Table 2 has 5, the sweeps 2 × (4 × 4 + 2 × 5),
	// the control 4.
	if got := len(regexp.MustCompile(`<tr id="e[0-9a-f]{12,16}"`).FindAllString(page, -1)); got != 2*17+5+2*(16+10)+4 {
		t.Errorf("%d lines of methods", got)
	}
}

// gridsLinks follows the links of verdicts to lines of tables.
func gridsLinks(t *testing.T, page string) {
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		ids[m[1]]++
	}
	links := regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1)
	for _, m := range links {
		if ids[m[1]] != 1 {
			t.Errorf("a link goes to %s, which is there %d times", m[1], ids[m[1]])
		}
	}
	if len(links) < 20 {
		t.Errorf("%d links", len(links))
	}
	if _, err := html.Parse(strings.NewReader(page)); err != nil {
		t.Error(err)
	}
}

// TestGridsOfPart has a grid of which some runs are missing.
func TestGridsOfPart(t *testing.T) {
	var part []*rows.Row
	for i, r := range sampleGrids() {
		if r.Grid == "table2-test-split" {
			if i%7 == 0 {
				r.State, r.Reason = rows.Failed, "<no> room"
			}
			part = append(part, r)
		}
	}
	page := gridsPage(t, part)
	for _, want := range []string{"Runs that failed", "&lt;no&gt; room", "Methods with missing runs are not ranked",
		"failed</span>"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(page, want) && !strings.Contains(page, strings.ToLower(want[:1])+want[1:]) {
				t.Errorf("the page lacks %q", want)
			}
		})
	}
	if err := report.Runs(t.Context(), new(bytes.Buffer), report.RunsInput{Findings: &paper.Findings{}}); err == nil {
		t.Error("a page without grids was made")
	}
}

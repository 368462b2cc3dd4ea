package grid

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestConfigOf exports results and finds the configuration of every one of them again, from the export and the grid's
// file alone.
func TestConfigOf(t *testing.T) {
	g := small(t, 2)
	g.Vary = table{"batch": []any{int64(8), int64(16)}, "params.rescale": []any{"native", "mean"}}
	f, m := planned(t, g)
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	r, err := f.Collect(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.CSV(&out); err != nil {
		t.Fatal(err)
	}
	all, err := rows.Read(&out)
	if err != nil || len(all) != 2*2*2*2*2 {
		t.Fatalf("%d rows (%v)", len(all), err)
	}
	for i, row := range all {
		c, err := g.ConfigOf(row)
		if err != nil {
			t.Fatal(err)
		}
		if want := m.Cells[slices.IndexFunc(m.Cells, func(c Cell) bool { return c.ID == row.Cell })].Config; c.ID() != want.ID() {
			t.Errorf("row %d: configuration %s, want %s", i, c.ID(), want.ID())
		}
	}
	lost := *all[0]
	lost.Seed = 77
	if _, err := g.ConfigOf(&lost); err == nil || !strings.Contains(err.Error(), "has no AvgGrad, batch=8, params.rescale=native on G, task-incremental, label set 0, timeline 0, seed 77") {
		t.Errorf("a row that the grid has not: %v", err)
	}
	g.Set = table{"eval_every": int64(3)}
	if _, err := g.ConfigOf(all[0]); err == nil || !strings.Contains(err.Error(), "another run there now") {
		t.Errorf("a grid that was changed: %v", err)
	}
}

// TestPlanned finds grids by the names that their results have.
func TestPlanned(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"table1-test-split", "", ""},
		{"controls-memory-full", "", ""},
		{"controls-subset", "", ""},
		{"tune-smoke", "", ""},
		{"mine-full", "", "does not come with this program"},
		{"mine-full", "table1", "was not planned from table1"},
		{"table1-tiny", "", "does not come with this program"},
	} {
		g, err := Planned(c.name, c.file, nil)
		if c.want == "" && (err != nil || g.Name != c.name) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %q: error %v, want %q", c.name, c.file, err, c.want)
		}
	}
	path := write(t, "small", smallTuning[:strings.Index(smallTuning, "[tune]")])
	values := &Tuned{Methods: map[string]map[scenario.Increment]Winner{}}
	for name, m := range map[string]string{"Mean": "avggrad", "DER": "avggrad+der-pp"} {
		values.Methods[name] = map[scenario.Increment]Winner{"task": {Method: m, Set: table{"batch": int64(5)}}, "class": {Method: m}}
	}
	g, err := Planned("small-full-tuned", path, values)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.config(Row{DataSet: "G", Method: "Mean", Increment: "task"})
	if err != nil || c.Batch != 5 || g.Name != "small-full-tuned" {
		t.Errorf("%s: batch %d (%v)", g.Name, c.Batch, err)
	}
}

// TestFileNamedLikeBuiltin plans a copy of a built-in grid: unchanged it is the same grid, changed it is refused.
func TestFileNamedLikeBuiltin(t *testing.T) {
	text, err := grids.Files.ReadFile("table2.toml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "table2.toml")
	for _, c := range []struct{ add, want string }{{"", ""}, {"\n# another line\n", "give the file another name"}} {
		if err := os.WriteFile(path, append(text, c.add...), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path, "smoke")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("with %q added: error %v, want %q", c.add, err, c.want)
		}
	}
}

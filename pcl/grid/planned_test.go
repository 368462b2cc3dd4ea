package grid

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// TestConfigOf exports results and finds the configuration of every one of them again, from the
// export and the grid's file alone.
func TestConfigOf(t *testing.T) {
	g := small(t, 2)
	g.Vary = table{"batch": []any{int64(8), int64(16)}, "params.rescale": []any{"native", "mean"}}
	p := expanded(t, g)
	r := filled(t, p, nil)
	var out bytes.Buffer
	must.Do(t, rows.Write(&out, r.Table()))
	all, err := rows.Folder(fstest.MapFS{"grid.csv": {Data: out.Bytes()}})
	if err != nil || len(all) != 2*2*2*2*2 {
		t.Fatalf("%d rows (%v)", len(all), expect.Text(err))
	}
	for i, row := range all {
		c := must.Get(g.ConfigOf(row))(t)
		if c.ID() != row.Cell {
			t.Errorf("row %d: configuration %s, want %s", i, c.ID(), row.Cell)
		}
	}
	lost := *all[0]
	lost.Seed = 77
	if _, err := g.ConfigOf(&lost); err == nil {
		t.Errorf("a row that the grid has not: %v", expect.Text(err))
	}
	g.Set = table{"eval_every": int64(3)}
	if _, err := g.ConfigOf(all[0]); err == nil {
		t.Errorf("a grid that was changed: %v", expect.Text(err))
	}
}

// TestPublishedRuns: the runs of the published results have the ids that they have now.
func TestPublishedRuns(t *testing.T) {
	files, err := filepath.Glob("../../grids/results/*-test-split.csv")
	if err != nil || len(files) == 0 {
		t.Fatal(files, expect.Text(err))
	}
	for _, file := range append(files, "../../grids/results/table3-subset.csv",
		"../../grids/results/recommended-glyphs.csv") {
		all := must.Get(rows.Files(file))(t)
		g := must.Get(Named(all[0].Grid, "", nil))(t)
		g.DataDir = t.TempDir() // the official files, as far as a grid knows
		for _, r := range []*rows.Row{all[0], all[len(all)-1]} {
			if _, err := g.ConfigOf(r); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestConfigOfAPart: results of programs that did not tell a part of a data set from the whole are
// found where a part is now, and what is printed of them says so.
func TestConfigOfAPart(t *testing.T) {
	g := parse(t, "part", `
		title = "MNIST"
		datasets = ["M"]
		methods = ["AvgGrad"]
		increments = ["task"]
		labelsets = [0]
		timelines = [0]
		seeds = [1]
		[dataset.M]
		dataset = "mnist-test80"
		[method.AvgGrad]
		method = "avggrad"
	`)
	g.DataDir = t.TempDir()
	_, configs, err := g.expand()
	must.Do(t, err)
	old := &rows.Row{Dataset: "M", Method: "AvgGrad", Increment: "task", Trial: stats.Trial{Seed: 1}}
	old.Run = &results.Run{ID: configs[0].ID()}
	for name, data := range map[string]string{
		"images-idx3": "\x00\x00\x08\x03\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01!",
		"labels-idx1": "\x00\x00\x08\x01\x00\x00\x00\x01!"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(g.DataDir, "mnist", "t10k-"+name+"-ubyte")
			put(t, path, data)
		})
	}
	c, err := g.ConfigOf(old)
	if err != nil || c.Config().DataSHA256 == "" {
		t.Fatalf("the checksum of a part is %q (%v)", c.Config().DataSHA256, expect.Text(err))
	}
	if reasons := reasons(old, &results.Run{ID: c.ID()}); !strings.Contains(strings.Join(reasons, "\n"),
		"are a part of the official ones now") {
		t.Errorf("nothing says what differs: %q", reasons)
	}
	other := *old
	other.Run = &results.Run{ID: "000000000000"}
	if _, err := g.ConfigOf(&other); err == nil {
		t.Errorf("a result on other files: %v", expect.Text(err))
	}
}

// TestNamed finds grids by the names that their results have.
func TestNamed(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"table1-test-split", "", ""},
		{"controls-memory-full", "", ""},
		{"controls-subset", "", ""},
		{"tune-smoke", "", ""},
		{"mine-full", "", "does not come with this program"},
		{"mine-full", "table1", "is not from table1"},
		{"table1-tiny", "", "no size \"tiny\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := Named(c.name, c.file, nil)
			if c.want == "" && (err != nil || g.Name != c.name) {
				t.Error(err)
			}
			if c.want != "" && err == nil {
				t.Errorf("%s, %q: no error, want %q", c.name, c.file, c.want)
			}
		})
	}
	path := write(t, "small", smallTuning[:strings.Index(smallTuning, "[tune]")])
	values := &Tuned{Methods: map[string]map[string]Winner{}}
	for name, m := range map[string]string{"Mean": "avggrad", "DER": "avggrad+der-pp"} {
		values.Methods[name] = map[string]Winner{"task": {Method: m, Set: table{"batch": int64(5)}}, "class": {Method: m}}
	}
	g := must.Get(Named("small-full-tuned", path, values))(t)
	c, err := g.config("G", "Mean", "task", nil)
	switch {
	case err != nil:
		t.Errorf("%s: %v", g.Name, err)
	case c.Config().Batch != 5:
		t.Errorf("%s: c.Config().Batch is %d; want 5", g.Name, c.Config().Batch)
	case g.Name != "small-full-tuned":
		t.Errorf("%s: g.Name is %q; want %q", g.Name, g.Name, "small-full-tuned")
	}
}

// TestFileNamedLikeSize: a file may be called like a built-in grid in a size.
func TestFileNamedLikeSize(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "table1-smoke.toml", "extends = \"table1\"\ntitle = \"Mine\"\n")
	for name, title := range map[string]string{"table1-smoke.toml": "Mine",
		"table1-smoke": "Parallel continual learning, task-incremental", "controls-memory": ""} {
		t.Run(name, func(t *testing.T) {
			switch g, err := Load(name, "", nil); {
			case err != nil:
				t.Error(err)
			case !IsName(name):
				t.Error("IsName(name) is false")
			case title != "" && g.Title != title:
				t.Errorf("%v, %v", g, err)
			}
		})
	}
	if IsName("table1-mine") || IsName("runs") {
		t.Error("names of no grid count as such")
	}
}

// TestFileNamedLikeBuiltin reads a copy of a built-in grid: unchanged it is the same grid, changed
// it is refused.
func TestFileNamedLikeBuiltin(t *testing.T) {
	text := must.Get(grids.Files.ReadFile("table2.toml"))(t)
	path := filepath.Join(t.TempDir(), "table2.toml")
	for _, c := range []struct{ add string }{{""}, {"\n# another line\n"}} {
		must.Do(t, os.WriteFile(path, append(text, c.add...), 0o666))
		_, err := Load(path, "smoke", nil)
		if same := c.add == ""; same != (err == nil) {
			t.Errorf("with %q added: error %v", c.add, expect.Text(err))
		}
	}
}

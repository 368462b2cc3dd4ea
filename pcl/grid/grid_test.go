package grid

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestBuiltin expands every grid that comes with the program, in every size.
func TestBuiltin(t *testing.T) {
	rows := map[string]int{}
	builtin := Builtin()
	for _, name := range builtin[:len(builtin)-1] { // the tuning is last
		all := must.Get(Load(name, "", nil))(t).Sizes
		for _, size := range all {
			g, err := Load(name, size, nil)
			if err != nil {
				t.Error(err)
				continue
			}
			if g.Title == "" || g.Name != name+"-"+size {
				t.Errorf("%s of size %s is called %q, %q", name, size, g.Name, g.Title)
			}
			g.DataDir = t.TempDir()
			r, configs, err := g.expand()
			if err != nil {
				t.Errorf("%s: %v", g.Name, err)
			}
			rows[g.Name] = len(r)
			for i, run := range configs {
				c, first := run.Config(), configs[0].Config()
				if c.Method == first.Method && c.Seed == first.Seed { // the situations are the same for all
					if err := playable(c); err != nil {
						t.Errorf("%s, %s: %v", g.Name, r[i].Dataset, err)
					}
				}
			}
		}
		for _, size := range []string{"full", "seeds", "smoke", "subset"} {
			if !slices.Contains(all, size) {
				t.Errorf("%s has no size %s", name, size)
			}
		}
	}
	// methods × data sets × increments × situations × seeds
	for name, want := range map[string]int{
		"table1-full": 17 * 3 * 27, "table2-full": 17 * 3 * 27, "table3-full": 11 * 2 * 27, "table4-full": 11 * 2 * 27,
		"table5-full": 12 * 3 * 2 * 9,
		"table6-full": 10 * 3 * 9, "memory-full": 4 * 6 * 2 * 27, "temperature-full": 2 * 9 * 3 * 2 * 27, "table2-smoke": 17,
	} {
		t.Run(name, func(t *testing.T) {
			if rows[name] != want {
				t.Errorf("%s has %d rows, want %d", name, rows[name], want)
			}
		})
	}
}

// playable returns an error if a run's tasks cannot be made of the classes of its data set, or its
// memory cannot hold them.
func playable(c experiment.Config) error {
	for _, info := range datasets.List() {
		if info.Name != c.Dataset {
			continue
		}
		if b := c.Memory.Budget; b > 0 && b < info.Classes && c.Memory.Policy == "fixed_total" {
			return fmt.Errorf("a memory of %d for %d classes", b, info.Classes)
		}
		perClass := slices.Repeat([]int{100}, info.Classes)
		_, err := scenario.Generate(scenario.Options{
			Dataset: c.Dataset, Increment: c.Increment, Kind: c.Kind, Tasks: c.Tasks, MinClasses: c.MinClasses,
			MaxClasses: c.MaxClasses,
			Overlap:    c.Overlap, Duplicate: c.Duplicate, Batch: c.Batch, Epochs: c.Epochs, LabelSet: c.LabelSet,
			Timeline: c.Timeline,
		}, perClass)
		return err
	}
	return fmt.Errorf("there is no data set %q", c.Dataset)
}

// TestSettings follows settings through everything that may change them.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	base := `
		title = "Base"
		datasets = ["Glyphs"]
		methods = ["GMC"]
		increments = ["class"]
		labelsets = [3]
		timelines = [4]
		seeds = [5]
		[set]
		batch = 8
		eval_every = 7
		memory.policy = "fixed_total"
		[dataset.Glyphs]
		dataset = "glyphs"
		paper = "PS-Glyphs"
		batch = 16
		memory.budget = 100
		[method.GMC]
		method = "emgd-gmc"
		params.momentum = 0.5
		edit.eta = 0.01
		times.optimizer.lr = 3
		times.memory.budget = 0.5
		[vary]
		params.tau = [1, "inf"]
		hidden = [[32], [16, 8]]
		[size.tiny]
		set.train_per_class = 9
		vary.hidden = [[4]]
	`
	put(t, filepath.Join(dir, "base.toml"), base)
	put(t, filepath.Join(dir, "over.toml"), "extends = \"base.toml\"\ntitle = \"Over\"\nset.eval_every = 2\n")
	g := must.Get(Load(filepath.Join(dir, "over.toml"), "tiny", nil))(t)
	rows, configs, err := g.expand()
	must.Do(t, err)
	switch {
	case g.Title != "Over":
		t.Fatalf("g.Title is %q; want %q", g.Title, "Over")
	case g.Name != "over-tiny":
		t.Fatalf("g.Name is %q; want %q", g.Name, "over-tiny")
	case len(rows) != 2:
		t.Fatalf("len(rows) is %d; want 2", len(rows))
	}
	c, r := configs[0].Config(), rows[0]
	switch {
	case c.Batch != 16:
		t.Errorf("settings of different tables: c.Batch is %d; want 16", c.Batch)
	case c.EvalEvery != 2:
		t.Errorf("settings of different tables: c.EvalEvery is %d; want 2", c.EvalEvery)
	case c.TrainPerClass != 9:
		t.Errorf("settings of different tables: c.TrainPerClass is %d; want 9", c.TrainPerClass)
	case c.Params["momentum"] != 0.5:
		t.Errorf("settings of different tables: %+v", c)
	case c.Edit.Eta != 0.01:
		t.Errorf("settings of different tables: c.Edit.Eta is %g; want 0.01", c.Edit.Eta)
	case !slices.Equal(c.Hidden, []int{4}):
		t.Errorf("settings of different tables: c.Hidden is %v; want %v", c.Hidden, []int{4})
	}
	switch {
	case c.Memory != (memory.Config{Policy: "fixed_total", Budget: 50}):
		t.Errorf("multiplied: c.Memory is %+v; want %+v", c.Memory, (memory.Config{Policy: "fixed_total", Budget: 50}))
	case c.Optimizer.LR != 0.009:
		t.Errorf("multiplied: c.Optimizer.LR is %g; want 0.009", c.Optimizer.LR)
	}
	switch {
	case c.LabelSet != 3:
		t.Errorf("the place in the grid: c.LabelSet is %d; want 3", c.LabelSet)
	case c.Timeline != 4:
		t.Errorf("the place in the grid: c.Timeline is %d; want 4", c.Timeline)
	case c.Seed != 5:
		t.Errorf("the place in the grid: c.Seed is %d; want 5", c.Seed)
	case c.Increment != "class":
		t.Errorf("the place in the grid: c.Increment is %q; want %q", c.Increment, "class")
	}
	if fmt.Sprint(c.Params["tau"]) != "1" || configs[1].Config().Params["tau"] != "inf" ||
		rows[1].Line() != "GMC, hidden=[4], params.tau=inf" {
		t.Errorf("varied: %v, %v, %q", c.Params, configs[1].Config().Params, rows[1].Line())
	}
	switch {
	case r.PaperDataset != "PS-Glyphs":
		t.Errorf("names: r.PaperDataset is %q; want %q", r.PaperDataset, "PS-Glyphs")
	case r.PaperMethod != "":
		t.Errorf("names: r.PaperMethod is %q; want %q", r.PaperMethod, "")
	case r.Dataset != "Glyphs":
		t.Errorf("names: r.Dataset is %q; want %q", r.Dataset, "Glyphs")
	case r.Method != "GMC":
		t.Errorf("names: r.Method is %q; want %q", r.Method, "GMC")
	}
}

// TestRefused names what is wrong with a grid.
func TestRefused(t *testing.T) {
	good := `
		title = "Good"
		datasets = ["Glyphs"]
		methods = ["GMC"]
		increments = ["class"]
		labelsets = [0]
		timelines = [0]
		seeds = [1]
		vary.params.tau = [1]
		[dataset.Glyphs]
		dataset = "glyphs"
		[method.GMC]
		method = "emgd-gmc"
	`
	if _, _, err := parse(t, "good", good).expand(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{`title`, `titel`},
		{`seeds = [1]`, `seeds = []`},
		{`seeds = [1]`, `seeds = [1, 2, 1]`},
		{`seeds = [1]`, `seeds = [-1]`},
		{`seeds = [1]`, `seeds = 1`},
		{`["GMC"]`, `"GMC"`},
		{`title = "Good"`, `title = 5`},
		{`[method.GMC]`, "[method]\nGS = 4\n[method.GMC]"},
		{`vary.params.tau = [1]`, `vary = 3`},
		{`["GMC"]`, `["GS"]`},
		{`[1]
		[dataset`, `1
		[dataset`},
		{`tau = [1]`, `tau = []`},
		{`tau = [1]`, `tau = [-1]`},
		{`tau = [1]`, `momentun = [1]`},
		{`emgd-gmc"`, "emgd-gmc\"\nbatches = 3"},
		{`emgd-gmc"`, "emgd-gmc\"\ntimes.optimizer.lrs = 3"},
		{`emgd-gmc"`, "emgd-gmc\"\ntimes.optimizer.lr = nan"},
		{`emgd-gmc"`, "emgd-gmc\"\ntimes.batch = 1e300"},
		{`emgd-gmc"`, "emgd-gmc\"\nSEED = 3"},
		{`emgd-gmc"`, "emgd-gmc\"\nOptimizer.lr = 3"},
		{`emgd-gmc"`, "emgd-gmc\"\ntimes.batch = 0.3"},
		{`dataset = "glyphs"`, ``},
		{`title`, "extends = \"good.toml\"\ntitle"},
		{`title`, "extends = \"no such\"\ntitle"},
		{`title`, "extends = \"table1-smoke\"\ntitle"},
		{`title = "Good"`, `title = "Good`},
		{`tau = [1]`, `tau = [1, 2, 1.0]`},
		{`tau = [1]`, "tau = [1]\nvary.\"params.tau\" = [2]"},
		{`params.tau = [1]`, `seed = [1, 2]`},
		{`emgd-gmc"`, "emgd-gmc\"\nlabelset = 2"},
		{`emgd-gmc"`, "emgd-gmc\"\ntimes = 3"},
		{`emgd-gmc"`, "emgd-gmc\"\ntimes.seed = 3"},
		{`emgd-gmc"`, "emgd-gmc\"\npaper = 3"},
		{`emgd-gmc"`, "emgd-gmc\"\n[size]\nsmall = true"},
		{`title`, "size = 3\ntitle"},
		{`title = "`, `title = "two\nlines`},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%q does not occur", c.old)
		}
		g, err := Load(write(t, "good", text), full, nil)
		if err == nil {
			_, _, err = g.expand()
		}
		if err == nil {
			t.Errorf("%s instead of %s is not refused", c.new, c.old)
		}
	}
	if _, err := Load("table1", "huge", nil); err == nil {
		t.Errorf("a size that is not there: %v", expect.Text(err))
	}
	const size = "a\nb"
	if _, err := Load(write(t, "sized", strings.Replace(good, "title", fmt.Sprintf("size.%q.seeds = [2]\ntitle", size),
		1)), size, nil); err == nil {
		t.Errorf("the size %q is taken", size)
	}
}

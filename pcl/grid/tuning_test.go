package grid

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// smallTuning is a tuning of two methods, one of them with a parameter of its own.
const smallTuning = `
	title = "A small tuning"
	datasets = ["G"]
	methods = ["Mean", "DER"]
	increments = ["task", "class"]
	labelsets = [100]
	timelines = [100]
	seeds = [1000, 1001]
	[dataset.G]
	dataset = "glyphs-tune"
	[method.Mean]
	method = "avggrad"
	[method.DER]
	paper = "DER++"
	method = "avggrad+der-pp"
	params."der-pp.alpha" = 0.2
	[tune]
	budget = 4
	[tune.vary]
	times.optimizer.lr = [0.5, 1, 2, 4]
	[tune.method.DER]
	times.optimizer.lr = [2, 1]
	params."der-pp.alpha" = [0.1, 0.2]
`

func loadTuning(t *testing.T, text string) *Grid {
	t.Helper()
	tuning := must.Get(LoadTuning(write(t, "small", text), full))(t)
	return tuning
}

func TestTuning(t *testing.T) {
	tuning := loadTuning(t, smallTuning)
	want := []string{"Mean", "Mean, lr × 0.5", "Mean, lr × 2", "Mean, lr × 4", "DER", "DER, lr × 2",
		"DER, der-pp.alpha = 0.1", "DER, der-pp.alpha = 0.1, lr × 2"}
	if diff := cmp.Diff(want, tuning.Methods); diff != "" {
		t.Error(diff)
	}
	rows, configs, err := tuning.expand()
	must.Do(t, err)
	plain := must.Get(Load(write(t, "plain", smallTuning[:strings.Index(smallTuning, "[tune]")]), full, nil))(t)
	_, published, err := plain.expand()
	must.Do(t, err)
	if diff := cmp.Diff(configsOf(published[:2]), configsOf(configs[:2])); diff != "" {
		t.Errorf("the published values are another run than without tuning:\n%s", diff)
	}
	for i, r := range rows {
		t.Run(r.Title, func(t *testing.T) {
			c := configs[i].Config()
			switch r.Method {
			case "DER, der-pp.alpha = 0.1, lr × 2":
				if c.Optimizer.LR != 0.006 || c.Params["der-pp.alpha"] != 0.1 {
					t.Errorf("%s: learning rate %v, %v", r.Method, c.Optimizer.LR, c.Params)
				}
			case "Mean, lr × 0.5":
				if c.Optimizer.LR != 0.0015 {
					t.Errorf("%s: learning rate %v", r.Method, c.Optimizer.LR)
				}
			}
			if r.PaperMethod != "" {
				t.Errorf("%s is the paper's %s", r.Method, r.PaperMethod)
			}
		})
	}
}

// TestPick tunes with runs whose results follow from their configurations: the winner is the
// candidate with the largest mean, a candidate that fails loses, and what is picked can be written,
// read and used by a grid.
func TestPick(t *testing.T) {
	tuning := loadTuning(t, smallTuning)
	p := expanded(t, tuning)
	bad := func(c experiment.Config) bool {
		return c.Method == "avggrad" && c.Increment == "task" &&
			(c.Optimizer.LR == 0.003 || c.Optimizer.LR == 0.012 && c.Seed == 1001)
	}
	if _, _, err := (&Results{Grid: p}).Pick(); err == nil {
		t.Errorf("without results: %v", expect.Text(err))
	}
	r := filled(t, p, func(c experiment.Config) string {
		if bad(c) {
			return "too large"
		}
		return ""
	})
	best, notes, err := r.Pick()
	must.Do(t, err)
	if len(notes) != 2 || !strings.Contains(notes[0], "Mean, task-incremental, loses: a run failed: too large") {
		t.Errorf("notes %q", notes)
	}
	// by hand
	means, first := map[string]float64{}, map[string]string{}
	rows, configs, err := tuning.expand()
	must.Do(t, err)
	lost := map[string]bool{}
	for i, row := range rows {
		key := row.Method + "/" + row.Increment
		means[key] += fakeResult(configs[i].Config()).A / 2
		lost[key] = lost[key] || bad(configs[i].Config())
	}
	for i := 0; i < len(rows); i += 2 {
		key := rows[i].Method + "/" + string(rows[i].Increment)
		name, _, _ := strings.Cut(rows[i].Method, ",")
		place := name + "/" + string(rows[i].Increment)
		if !lost[key] && (first[place] == "" || means[key] > means[first[place]]) {
			first[place] = key
		}
	}
	for _, b := range best.Winners {
		place := b.Name + "/" + b.Increment
		want, _, _ := strings.Cut(first[place], "/")
		got := b.Name + ", " + b.Values
		if b.Values == "published" {
			got = b.Name
		}
		if got != want || b.A != means[first[place]] {
			t.Errorf("%s: %s with %g, want %s with %g", place, got, b.A, want, means[first[place]])
		}
		if none := place == "Mean/task"; (b.Published == nil) != none {
			t.Errorf("%s: published values %v", place, b.Published)
		}
	}
	path := filepath.Join(t.TempDir(), "tuned.toml")
	must.Do(t, best.Save(path))
	saved := must.Get(os.ReadFile(path))(t)
	back := must.Get(LoadTuned(path))(t)
	again, _, err := r.Pick()
	if err != nil || again.Save(path) != nil {
		t.Fatal(expect.Text(err))
	}
	if second, err := os.ReadFile(path); err != nil || string(saved) != string(second) {
		t.Errorf("picked twice:\n%s\n%s", saved, second)
	}
	used(t, back)
	ties(t, r)
}

// ties gives all runs the same A: the first candidate wins that neither failed nor diverged.
func ties(t *testing.T, r *Results) {
	t.Helper()
	step := 3
	for _, row := range r.Rows {
		run := r.states[row.Cell].Run
		if run == nil {
			continue
		}
		run.A = 50
		if row.Method == "DER" && row.Increment == "class" && row.Seed == 1001 {
			run.DivergedAt = &step
		}
	}
	best, notes, err := r.Pick()
	must.Do(t, err)
	got := map[string]string{}
	for _, b := range best.Winners {
		got[b.Name+"/"+b.Increment] = b.Values
	}
	want := map[string]string{"Mean/task": "lr × 0.5", "Mean/class": "published", "DER/task": "published",
		"DER/class": "lr × 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(notes) != 3 || !strings.Contains(notes[2], "DER, class-incremental, loses: a run diverged at step 3") {
		t.Errorf("notes %q", notes)
	}
}

// used plans a grid with tuned values.
func used(t *testing.T, values *Tuned) {
	t.Helper()
	text := strings.Replace(smallTuning[:strings.Index(smallTuning, "[tune]")], "glyphs-tune", "cifar-100", 1)
	load := func() *Grid {
		g := must.Get(Load(write(t, "table", text), full, nil))(t)
		return g
	}
	g := load()
	must.Do(t, g.useTuned(values))
	p := expanded(t, g)
	if p.Name != "table-full-tuned" {
		t.Errorf("the grid is called %q", p.Name)
	}
	for i, row := range p.Rows {
		w := values.Methods[row.Method][row.Increment]
		factor, alpha := 1.0, any(0.2)
		if x, ok := leaves(w.Set)["times.optimizer.lr"]; ok {
			factor, _ = number(x)
		}
		if p, ok := w.Set["params"].(table); ok {
			alpha = p["der-pp.alpha"]
		}
		c := p.Runs[i].Config()
		if c.Optimizer.LR != rounded(0.0004*factor) {
			t.Errorf("%s, %s: learning rate %v for a factor of %v", row.Method, row.Increment, c.Optimizer.LR, factor)
		}
		if row.Method == "DER" && c.Params["der-pp.alpha"] != alpha {
			t.Errorf("%s, %s: %v, want α = %v", row.Method, row.Increment, c.Params, alpha)
		}
	}
	g = load()
	g.Methods = append(g.Methods, "Other")
	if err := g.useTuned(values); err == nil {
		t.Errorf("a method without tuned values: %v", expect.Text(err))
	}
	g = load()
	g.Methods = []string{"Mean"}
	g.Method["Mean"]["method"] = "mgda"
	if err := g.useTuned(values); err == nil {
		t.Errorf("another method of the same name: %v", expect.Text(err))
	}
}

func TestTuningRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"budget = 4", "budget = 5", "Mean: 4 candidates, but the budget is 5"},
		{"budget = 4", "budget = 0", "is 0"},
		{"budget = 4", `budget = "4"`, "wrong type"},
		{"budget = 4", "budgets = 4", `unknown key "tune.budgets"`},
		{"[tune.method.DER]", "[tune.method.DAR]", `there is no [method."DAR"]`},
		{"[0.5, 1, 2, 4]", "[0.5, 3, 2, 4]", "the published value of times.optimizer.lr, 1, is not in the list"},
		{"[0.5, 1, 2, 4]", "[0.5, 1, 2, 2]", "lists 2 twice"},
		{"[0.1, 0.2]", "[0.1, 0.3]", "the published value of params.der-pp.alpha, 0.2, is not in the list"},
		{`params."der-pp.alpha" = [`, `params."der-pp.alfa" = [`, `has no parameter "der-pp.alfa"`},
		{"[tune]", "[vary]\nbatch = [1, 2]\n[tune]", "belongs in [tune.vary]"},
		{"[0.1, 0.2]", "[[1], [1]]", "lists [1] twice"},
		{"[method.Mean]", "[method.Mean]\noptimizer.lr = 0.1", "sets optimizer.lr itself"},
	} {
		t.Run(c.old, func(t *testing.T) {
			text := strings.Replace(smallTuning, c.old, c.new, 1)
			if text == smallTuning {
				t.Fatalf("%q does not occur", c.old)
			}
			if _, err := LoadTuning(write(t, "small", text), full); err == nil {
				t.Errorf("%s instead of %s: no error, want %q", c.new, c.old, c.want)
			}
		})
	}
	if _, err := LoadTuning("table1", full); err == nil {
		t.Errorf("a grid that is no tuning: %v", expect.Text(err))
	}
	if g, err := Load(builtinTuning, full, nil); err != nil || g.Name != "tune-full" {
		t.Errorf("the candidates of a tuning as a grid: %v", expect.Text(err))
	}
}

// configsOf are the configurations of runs.
func configsOf(runs []experiment.Checked) (configs []experiment.Config) {
	for _, r := range runs {
		configs = append(configs, r.Config())
	}
	return configs
}

// TestBuiltinTuning checks that the search which comes with the program is fair, and apart from all
// tables: data and situations of its own.
func TestBuiltinTuning(t *testing.T) {
	tuning := must.Get(LoadTuning(builtinTuning, full))(t)
	_, configs, err := tuning.expand()
	must.Do(t, err)
	if n := len(tuning.tuning.methods) * tuning.tuning.budget * 2 * 2; len(configs) != n {
		t.Errorf("%d runs, want %d", len(configs), n)
	}
	for _, c := range configsOf(configs) {
		if err := playable(c); err != nil {
			t.Error(err)
		}
		switch {
		case c.Dataset != "glyphs-tune":
			t.Fatalf("c.Dataset is %q; want %q", c.Dataset, "glyphs-tune")
		case c.LabelSet < 100:
			t.Fatalf("c.LabelSet is %d; want at least 100", c.LabelSet)
		case c.Timeline < 100:
			t.Fatalf("c.Timeline is %d; want at least 100", c.Timeline)
		case c.Seed < 1000:
			t.Fatalf("c.Seed is %d; want at least 1000", c.Seed)
		}
	}
	builtin := Builtin()
	for _, name := range builtin[:len(builtin)-1] { // the tuning is last
		g := must.Get(Load(name, full, nil))(t)
		for _, d := range g.Dataset {
			if d["dataset"] == "glyphs-tune" {
				t.Errorf("%s uses the data of the tuning", name)
			}
		}
		if slices.Max(g.LabelSets) >= 100 || slices.Max(g.Timelines) >= 100 {
			t.Errorf("%s uses the situations of the tuning", name)
		}
	}
	table1 := must.Get(Load("table1", full, nil))(t)
	for _, m := range table1.Methods {
		if !slices.Contains(tuning.Methods, m) {
			t.Errorf("%s is not tuned", m)
		}
	}
}

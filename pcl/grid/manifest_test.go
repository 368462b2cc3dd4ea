package grid

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

func TestManifest(t *testing.T) {
	f, m := planned(t, small(t, 3))
	if len(m.Rows) != 12 || len(m.Cells) != 12 {
		t.Fatalf("%d rows, %d cells", len(m.Rows), len(m.Cells))
	}
	back, err := f.Manifest(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Cells, back.Cells); diff != "" || len(back.Rows) != 12 {
		t.Errorf("read back: %d rows\n%s", len(back.Rows), diff)
	}
	if err := back.Check(); err != nil {
		t.Error(err)
	}
	back.Build = "another"
	if err := back.Check(); err == nil || !strings.Contains(err.Error(), "plan it again") {
		t.Errorf("another program: %v", err)
	}
	if _, err := f.Manifest("none"); err == nil || !strings.Contains(err.Error(), m.Name) {
		t.Errorf("a grid that is not planned: %v", err)
	}
	path := f.manifest(m.Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	altered := strings.Replace(string(text), `"seed": 2`, `"seed": 7`, 1)
	if err := os.WriteFile(path, []byte(altered), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Manifest(m.Name); err == nil || !strings.Contains(err.Error(), "altered") {
		t.Errorf("an altered manifest: %v", err)
	}
}

// TestCellID tells apart whatever may change a result, and nothing else.
func TestCellID(t *testing.T) {
	id := func(c experiment.Config, program string, how Compute) string {
		t.Helper()
		how, err := how.checked()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cellID(c, program, how)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	base := experiment.DefaultConfig("glyphs")
	other := base
	other.Seed++
	cpu := Compute{Backend: "xla-cpu"}
	first := id(base, "v1", cpu)
	for name, got := range map[string]string{
		"seed": id(other, "v1", cpu), "program": id(base, "v2", cpu), "backend": id(base, "v1", Compute{Backend: "go"}),
		"threads": id(base, "v1", Compute{Backend: "xla-cpu", Threads: 2}),
	} {
		if got == first {
			t.Errorf("another %s gives the same cell", name)
		}
	}
	if id(base, "v1", Compute{Backend: "xla-cpu", Threads: 1, TF32: true}) != first {
		t.Error("what the backend ignores gives another cell")
	}
	if _, err := (Compute{Backend: "auto"}).checked(); err == nil {
		t.Error("a backend that is still to be chosen is accepted")
	}
}

// TestFlagsOfXLA: options of XLA are a part of how cells are computed, and workers must have them too.
func TestFlagsOfXLA(t *testing.T) {
	const flags = "--xla_cpu_enable_fast_math=true"
	t.Setenv("XLA_FLAGS", " --xla_gpu_cuda_data_dir=/usr/local/cuda  "+flags)
	if got := backend.XLAFlags(); got != flags {
		t.Errorf("flags %q", got)
	}
	how, err := Compute{Backend: "xla-cpu", Flags: backend.XLAFlags()}.checked()
	if err != nil || how.Flags != flags || how.settled() != nil {
		t.Errorf("%+v, %v, %v", how, err, how.settled())
	}
	if pure, err := (Compute{Backend: "go", Flags: flags}).checked(); err != nil || pure.Flags != "" || pure.settled() != nil {
		t.Errorf("the pure-Go backend has options of XLA: %+v, %v", pure, err)
	}
	t.Setenv("XLA_FLAGS", "")
	if err := how.settled(); err == nil || !strings.Contains(err.Error(), flags) {
		t.Errorf("without them: %v", err)
	}
	t.Setenv("NVIDIA_TF32_OVERRIDE", "1")
	if err := (Compute{Backend: "xla-cuda"}).settled(); err == nil {
		t.Error("TF32 in a grid without it")
	}
	if err := (Compute{Backend: "xla-cuda", TF32: true}).settled(); err != nil {
		t.Error(err)
	}
}

// TestDropped: who plans another grid of the same name is told what the plan before had.
func TestDropped(t *testing.T) {
	g := small(t, 2)
	f, m := planned(t, g)
	if m.Dropped != 0 {
		t.Errorf("the first plan drops %d places", m.Dropped)
	}
	g.Seeds = []uint64{g.Seeds[0], 99}
	m, err := f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}})
	if err != nil || m.Dropped != len(m.Rows)/2 || m.Check() != nil {
		t.Errorf("%v: %d of %d places are dropped", err, m.Dropped, len(m.Rows))
	}
	if m, err = f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}}); err != nil || m.Dropped != 0 {
		t.Errorf("%v: the same plan drops %d places", err, m.Dropped)
	}
}

// TestUnused: who plans the same places with other settings is told that finished cells are no longer used.
func TestUnused(t *testing.T) {
	g := small(t, 1)
	f, m := planned(t, g)
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	m, err := f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}})
	if err != nil || m.Unused != 0 {
		t.Errorf("%v: the same plan leaves %d cells", err, m.Unused)
	}
	m, err = f.Plan(g, PlanOptions{Compute: Compute{Backend: "xla-cpu", Threads: 1}})
	if err != nil || m.Dropped != 0 || m.Unused != 4 {
		t.Errorf("%v: with another backend it leaves %d cells, and %d places are dropped", err, m.Unused, m.Dropped)
	}
}

// TestSharedCells plans two grids that have cells in common: those have the same IDs. Places that are the same run
// share a cell.
func TestSharedCells(t *testing.T) {
	g := small(t, 2)
	f, m := planned(t, g)
	g.Name, g.Methods = "other", []string{"MGDA"}
	other, err := f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range m.Cells {
		known[c.ID] = true
	}
	for _, c := range other.Cells {
		if !known[c.ID] {
			t.Errorf("%s is another cell in the second grid", c.Name())
		}
	}
	g.Methods, g.Method["Same"] = []string{"MGDA", "Same"}, g.Method["MGDA"]
	if m, err := f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}}); err != nil || len(m.Rows) != 8 || len(m.Cells) != 4 {
		t.Errorf("two names for one method: %d places, %d cells (%v)", len(m.Rows), len(m.Cells), err)
	}
	m, err = f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}, Program: "earlier"})
	if err != nil || m.Program != "earlier" || m.Check() != nil || known[m.Cells[0].ID] {
		t.Errorf("an earlier program's cells: %v, program %s, cell %s", err, m.Program, m.Cells[0].ID)
	}
}

// TestShards cuts cells of random times: each is in one shard, neighbours stay together, and no shard takes much
// longer than the others.
func TestShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cells []Cell
		for i, s := range rapid.SliceOfN(rapid.Float64Range(0, 9), 1, 60).Draw(t, "seconds") {
			cells = append(cells, Cell{ID: string(rune('A' + i)), Seconds: s})
		}
		n := rapid.IntRange(1, 12).Draw(t, "shards")
		seconds, total := weights(cells)
		longest := 0.0
		for _, s := range seconds {
			longest = max(longest, s)
		}
		at := 0
		for i := range n {
			took := 0.0
			for _, c := range part(cells, Shard{i, n}) {
				if c.ID != cells[at].ID {
					t.Fatalf("shard %d of %d has cell %s, want %s", i, n, c.ID, cells[at].ID)
				}
				took += seconds[at]
				at++
			}
			if took > total/float64(n)+longest+1e-9 {
				t.Fatalf("shard %d of %d takes %g s of %g s; the longest cell takes %g s", i, n, took, total, longest)
			}
		}
		if at != len(cells) {
			t.Fatalf("%d of %d cells are in a shard", at, len(cells))
		}
	})
}

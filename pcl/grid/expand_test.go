package grid

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// TestPathsOfExtended: a path in a file that another one extends is relative to the file that has
// it.
func TestPathsOfExtended(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"base/base.toml": "[set]\nscenario = \"s.json\"\n[method.A]\ninit = \"/elsewhere/w.safetensors\"\n",
		"own/own.toml":   "extends = \"../base/base.toml\"\n[method.B]\ninit = \"w.safetensors\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			put(t, filepath.Join(dir, name), text)
		})
	}
	text := must.Get(read(filepath.Join(dir, "own", "own.toml")))(t)
	for path, want := range map[string]string{
		"set.scenario": filepath.Join(dir, "base", "s.json"), "method.A.init": "/elsewhere/w.safetensors",
		"method.B.init": filepath.Join(dir, "own", "w.safetensors"),
	} {
		t.Run(path, func(t *testing.T) {
			if got := leaves(text)[path]; got != want {
				t.Errorf("%s is %v, want %s", path, got, want)
			}
		})
	}
}

// TestLargeValues: whole numbers have no exponent in the names of rows, whatever TOML or Go make of
// them.
func TestLargeValues(t *testing.T) {
	for want, values := range map[string][]any{"1000000": {int64(1_000_000), 1e6}, "0.003": {0.003}, "5": {5.0},
		"1e+30": {1e30}, "inf": {"inf"}} {
		t.Run(want, func(t *testing.T) {
			for _, v := range values {
				if got := valueText(v); got != want {
					t.Errorf("%v became %s, want %s", v, got, want)
				}
			}
		})
	}
}

// TestTimesKeepTheNetwork: a run whose numbers a grid multiplies begins with the same network.
func TestTimesKeepTheNetwork(t *testing.T) {
	c := experiment.DefaultConfig("glyphs")
	c.Init, c.InitFile = "0123", "w.safetensors"
	got, err := scaled(c, table{"optimizer": table{"lr": 2.0}})
	switch {
	case err != nil:
		t.Error(err)
	case got.InitFile != c.InitFile:
		t.Errorf("got.InitFile is %q; want %q", got.InitFile, c.InitFile)
	case got.Init != c.Init:
		t.Errorf("got.Init is %q; want %q", got.Init, c.Init)
	case got.Optimizer.LR != 2*c.Optimizer.LR:
		t.Errorf("got.Optimizer.LR is %g; want %g", got.Optimizer.LR, 2*c.Optimizer.LR)
	}
}

// TestPaperLayer: a configuration over it is that of a cell of the paper's table.
func TestPaperLayer(t *testing.T) {
	g := must.Get(Load("table2", "test-split", nil))(t)
	p := expanded(t, g)
	paper := must.Get(PaperLayer("emnist-byclass-test80"))(t)
	c := must.Get(experiment.NewConfig(paper,
		experiment.Layer{Values: map[string]any{"method": "emgd-gmc", "increment": "class", "labelset": 2}}))(t)
	if !slices.ContainsFunc(p.Runs, func(r experiment.Checked) bool {
		whole := r.Config()
		whole.DataSHA256 = ""
		return whole.ID() == c.ID()
	}) {
		t.Errorf("the grid has no run %s", c.ID())
	}
	if _, err := PaperLayer("glyphs"); err == nil {
		t.Error("glyphs are in the paper's tables")
	}
}

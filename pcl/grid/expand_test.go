package grid

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// TestPathsOfExtended: a path in a file that another one extends is relative to the file that has it.
func TestPathsOfExtended(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"base/base.toml": "[set]\nscenario = \"s.json\"\n[method.A]\ninit = \"/elsewhere/w.safetensors\"\n",
		"own/own.toml":   "extends = \"../base/base.toml\"\n[method.B]\ninit = \"w.safetensors\"\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := read(filepath.Join(dir, "own", "own.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path []string
		want any
	}{
		{[]string{"set", "scenario"}, filepath.Join(dir, "base", "s.json")},
		{[]string{"method", "A", "init"}, "/elsewhere/w.safetensors"},
		{[]string{"method", "B", "init"}, filepath.Join(dir, "own", "w.safetensors")},
	} {
		var got any = text
		for _, key := range c.path {
			got = got.(table)[key]
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
}

// TestLargeValues: a varied number is written in the same way before a manifest is saved and after it is read.
func TestLargeValues(t *testing.T) {
	for _, c := range []struct {
		planned, read any
		want          string
	}{
		{int64(1_000_000), float64(1_000_000), "1000000"}, {0.003, 0.003, "0.003"}, {5.0, 5.0, "5"}, {1e30, 1e30, "1e+30"}, {"inf", "inf", "inf"},
	} {
		if p, r := valueText(c.planned), valueText(c.read); p != c.want || r != c.want {
			t.Errorf("%v became %s and %s, want %s", c.planned, p, r, c.want)
		}
	}
}

// TestTimesKeepTheNetwork: a run whose numbers a grid multiplies begins with the same network.
func TestTimesKeepTheNetwork(t *testing.T) {
	c := experiment.DefaultConfig("glyphs")
	c.Init, c.InitFile = "0123", "w.safetensors"
	got, err := scaled(c, table{"optimizer": table{"lr": 2.0}})
	if err != nil || got.InitFile != c.InitFile || got.Init != c.Init || got.Optimizer.LR != 2*c.Optimizer.LR {
		t.Errorf("it begins with %q of %q at the rate %g, %v", got.InitFile, got.Init, got.Optimizer.LR, err)
	}
}

// TestPaperLayer: a configuration over it is that of a cell of the paper's table.
func TestPaperLayer(t *testing.T) {
	g, err := Load("table2", "test-split")
	if err != nil {
		t.Fatal(err)
	}
	p := expanded(t, g)
	paper, err := PaperLayer("emnist-byclass-test80")
	if err != nil {
		t.Fatal(err)
	}
	c, err := experiment.NewConfig(paper, experiment.Layer{Values: map[string]any{"method": "emgd-gmc", "increment": "class", "labelset": 2}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.Runs, func(r experiment.Checked) bool { r.DataSHA256 = ""; return r.ID() == c.ID() }) {
		t.Errorf("the grid has no run %s", c.ID())
	}
	if _, err := PaperLayer("glyphs"); err == nil {
		t.Error("glyphs are in the paper's tables")
	}
}

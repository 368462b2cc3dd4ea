package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestTypedRules: names in a command are allowed, but not those with which pcl grid selects results
// of others.
func TestTypedRules(t *testing.T) {
	for _, c := range []struct {
		command, args string
		want          []string
	}{
		{"pcl run", "run --method sum,python:r.py:a+er --seed 1", []string{"python:r.py:a"}},
		{"pcl run", "run --method=python:r.py:a", []string{"python:r.py:a"}},
		{"pcl compare", "compare glyphs emgd:tau=3 python:r.py:b", []string{"python:r.py:b"}},
		{"pcl run", "run --config python.toml", nil},
		{"pcl grid reproduce", "grid reproduce f.csv --method python:r.py:a", nil},
	} {
		t.Run(c.command, func(t *testing.T) {
			if got := typedRules(c.command, strings.Fields(c.args)); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v; want %v", c.args, got, c.want)
			}
		})
	}
}

// TestRulesOfFiles: a configuration with a rule in Python starts nothing without --allow-code; with
// it, or named in the command, the rule trains the network of the same rule in Go to the bit.
func TestRulesOfFiles(t *testing.T) {
	dir := t.TempDir()
	touched, rules, config := filepath.Join(dir, "touched"), filepath.Join(dir, "rules.py"), filepath.Join(dir, "c.toml")
	must.Do(t, os.WriteFile(rules,
		[]byte("open("+quote(touched)+", 'w')\n\ndef mean(gram, losses, ids):\n    return [1 / len(ids)] * len(ids)\n"),
		0o600))
	name := "python:" + filepath.ToSlash(rules) + ":mean"
	must.Do(t, os.WriteFile(config, []byte("dataset = \"glyphs\"\nepochs = 1\nhidden = [8]\nmethod = "+quote(name)+"\n"),
		0o600))
	run := func(args ...string) *exec.Cmd {
		return pclCommand(append([]string{"-q", "run", "--backend", "go", "--out", filepath.Join(dir, "runs")}, args...)...)
	}
	if cmd := run("--config", config); cmd.Run() == nil || !strings.Contains(stderrOf(cmd), "give --allow-code") {
		t.Errorf("a rule of a file: %s", stderrOf(cmd))
	}
	if _, err := os.Stat(touched); err == nil {
		t.Fatal("the code was run")
	}
	must.Python(t, "numpy")
	for _, args := range [][]string{{"--config", config, "--allow-code"},
		{"--config", config, "--method", "avggrad," + name, "--seed", "7"}} {
		if cmd := run(args...); cmd.Run() != nil {
			t.Fatalf("%v: %s", cmd.Args, stderrOf(cmd))
		}
	}
	models := map[string]string{}
	for _, file := range must.Get(filepath.Glob(filepath.Join(dir, "runs", "*", "result.json")))(t) {
		r := must.Get(results.Load(file))(t)
		if r.Seed == 7 {
			models[r.Method] = r.ModelSHA256
		}
		if r.Method == name && r.Params["code"] == nil {
			t.Errorf("%s has no checksum of the code", file)
		}
	}
	if len(models) != 2 || models["avggrad"] != models[name] {
		t.Errorf("models %v; want two that are equal", models)
	}
}

func quote(text string) string { return "\"" + filepath.ToSlash(text) + "\"" }

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

// rulesInPython are two rules that Go has, too, in the same order of operations, one that remembers
// lengths, and one that fails.
const rulesInPython = `import math


def directions(gram, losses, ids):
    return [1 / math.sqrt(gram[i, i]) if gram[i, i] else 0.0 for i in range(len(ids))]


def krum(gram, losses, ids):
    k = len(ids)
    if k < 4:
        return [1 / k] * k

    def crowding(i):
        pairs = [gram[i, i] + gram[j, j] - 2 * (gram[i, j] / 2 + gram[j, i] / 2) for j in range(k) if j != i]
        near = sorted(max(pair, 0.0) for pair in pairs)
        total = 0.0
        for distance in near[: k - 3]:
            total += distance
        return total

    first = min(range(k), key=lambda i: (crowding(i), ids[i]))
    return [float(i == first) for i in range(k)]


class Smoothed:
    def __init__(self):
        self.state = {}

    def __call__(self, gram, losses, ids):
        weights = []
        for i, id in enumerate(ids):
            length = max(math.sqrt(gram[i, i]), 1e-3)
            self.state[str(id)] = 0.9 * self.state.get(str(id), length) + 0.1 * length
            weights.append(1 / self.state[str(id)])
        return weights

    def end(self, id):
        self.state.pop(str(id), None)


def fails(gram, losses, ids):
    return gram[len(ids), 0]
`

// written is the beginning of the names of these rules, in a file of a folder of their own.
func written(t *testing.T) (file, name string) {
	must.Python(t, "numpy")
	file = filepath.Join(t.TempDir(), "rules.py")
	must.Do(t, os.WriteFile(file, []byte(rulesInPython), 0o600))
	return file, "python:" + filepath.ToSlash(file) + ":"
}

// TestRulesInPythonAsInGo: rules that read the Gram matrix have the weights of the same rules in
// Go, and so make the same networks, to the bit.
func TestRulesInPythonAsInGo(t *testing.T) {
	_, at := written(t)
	for rule, name := range map[string]string{"dibs-mtl": "directions", "krum": "krum"} {
		t.Run(rule, func(t *testing.T) {
			want, got := train(t, "--backend", "go", "--method", rule), train(t, "--backend", "go", "--method", at+name)
			if got.Model != want.Model || got.Steps != want.Steps {
				t.Errorf("model %s after %d steps; want %s after %d", got.Model, got.Steps, want.Model, want.Steps)
			}
		})
	}
}

// TestRuleInPythonResumes: a run that is interrupted, or killed, goes on as if it had not stopped,
// with what its rule in Python remembers.
func TestRuleInPythonResumes(t *testing.T) {
	_, at := written(t)
	args := append(slices.Clone(unhurried), "--method", at+"Smoothed")
	want := train(t, args...)
	for _, s := range []os.Signal{os.Interrupt, os.Kill} {
		t.Run(s.String(), func(t *testing.T) {
			out := t.TempDir()
			again := small(t, append(args, "--checkpoint-every", "5")...)
			cmd := start(t, out, 1, again...)
			interrupt(t, cmd, s)
			if err := cmd.Wait(); err == nil {
				t.Fatal("the run came to its end before it was stopped")
			}
			if cmd := pclCommand(append(again, "-o", out)...); cmd.Run() != nil {
				t.Fatal(stderrOf(cmd))
			}
			left(t, out).same(t, want)
		})
	}
}

// TestGridOfRulesInPython: a grid's rules start with --allow-code alone, in pcl grid run and in pcl
// grid reproduce, which makes the same networks, and refuses another file. Errors name the line.
func TestGridOfRulesInPython(t *testing.T) {
	file, at := written(t)
	dir := t.TempDir()
	own, csv := filepath.Join(dir, "own.toml"), filepath.Join(dir, "own.csv")
	text := "title = \"Own rules\"\ndatasets = [\"Glyphs\"]\nmethods = [\"Mine\"]\nincrements = [\"task\"]\n" +
		"labelsets = [0]\ntimelines = [0]\nseeds = [1]\n" +
		"set = { train_per_class = 5, test_per_class = 2, hidden = [8], batch = 8 }\n" +
		"[dataset.Glyphs]\ndataset = \"glyphs\"\n[method.Mine]\nmethod = " + quote(at+"Smoothed") + "\n"
	must.Do(t, os.WriteFile(own, []byte(text), 0o600))
	failing := filepath.Join(dir, "failing.toml")
	must.Do(t, os.WriteFile(failing, []byte("dataset = \"glyphs\"\nmethod = "+quote(at+"fails")+"\n"), 0o600))
	reproduce := []string{"grid", "reproduce", csv, "--grid", own, "--method", "Mine"}
	for _, c := range []struct {
		name   string
		args   []string
		change string // what is added to the file before
		want   string // what is said; empty for a command that does what it should
	}{
		{"run", []string{"grid", "run", own, "--backend", "go"}, "", "give --allow-code"},
		{"run allowed", []string{"grid", "run", own, "--backend", "go", "--allow-code"}, "", ""},
		{"export", []string{"export", "csv", own, "-o", csv}, "", ""},
		{"reproduce", reproduce, "", "give --allow-code"},
		{"reproduce allowed", append(slices.Clone(reproduce), "--allow-code"), "", ""},
		{"failing", []string{"run", "--config", failing, "--backend", "go", "--allow-code"}, "", "rules.py:42: IndexError: "},
		{"another file", append(slices.Clone(reproduce), "--allow-code", "-o", filepath.Join(dir, "again")), "# changed\n",
			"of its rule in Python"},
	} {
		t.Run(c.name, func(t *testing.T) {
			must.Do(t, os.WriteFile(file, []byte(rulesInPython+c.change), 0o600))
			cmd := pclCommand(append([]string{"-q"}, c.args...)...)
			cmd.Dir = dir
			err := cmd.Run()
			if (err == nil) != (c.want == "") || !strings.Contains(stderrOf(cmd), c.want) {
				t.Errorf("%v: %s; want %q", err, stderrOf(cmd), c.want)
			}
		})
	}
}

func quote(text string) string { return "\"" + filepath.ToSlash(text) + "\"" }

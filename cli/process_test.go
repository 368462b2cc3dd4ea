package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// small returns the arguments of a run on a tiny set: a hundred quick steps.
func small(t *testing.T, args ...string) []string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "small.toml")
	text := "method = \"emgd-gmc\"\ndataset = \"mnist-test80\"\nbatch = 8\nepochs = 5\nhidden = [32, 16]\nmemory = {budget = 2}\n"
	must.Do(t, os.WriteFile(config, []byte(text), 0o644))
	return append([]string{"-q", "run", "--config", config, "--data-dir", tinySet(t), "--record"}, args...)
}

// pclCommand prepares a pcl process (the test binary under that name; see TestMain).
func pclCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("pcl", args...)
	cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
	return cmd
}

func stderrOf(cmd *exec.Cmd) string { return cmd.Stderr.(*bytes.Buffer).String() }

// train runs pcl with the small configuration and returns what it left.
func train(t *testing.T, args ...string) outcome {
	t.Helper()
	dir := t.TempDir()
	cmd := pclCommand(small(t, append(args, "-o", dir)...)...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderrOf(cmd))
	}
	return left(t, dir)
}

var undisturbed sync.Map // by arguments, outcome

// baseline is train, once for all tests.
func baseline(t *testing.T, args ...string) outcome {
	t.Helper()
	key := strings.Join(args, " ")
	if o, ok := undisturbed.Load(key); ok {
		return o.(outcome)
	}
	o := train(t, args...)
	undisturbed.Store(key, o)
	return o
}

// outcome is all that must not depend on how a run was made.
type outcome struct {
	Result            string // without what was measured
	Records, Scenario string
	Steps             int
	Model             string
}

// left reads what the only run in a folder left.
func left(t *testing.T, out string) outcome {
	t.Helper()
	read := func(name string) string {
		return string(must.Get(os.ReadFile(filepath.Join(onlyFolder(t, out), name)))(t))
	}
	var known struct {
		Steps  int    `json:"steps"`
		Model  string `json:"model_sha256"`
		Memory string `json:"memory_sha256"`
	}
	result := read("result.json")
	must.Do(t, json.Unmarshal([]byte(result), &known))
	switch {
	case len(known.Model) != 64:
		t.Fatalf("the result is not one: len(known.Model) is %d; want 64", len(known.Model))
	case known.Steps < 10:
		t.Fatalf("the result is not one: known.Steps is %d; want at least 10", known.Steps)
	case known.Memory == "":
		t.Fatal("the result is not one: known.Memory is empty")
	}
	o := outcome{withoutMeasured(t, result), read("records.jsonl"), read("scenario.json"), known.Steps, known.Model}
	if lines := strings.Count(o.Records, "\n"); lines != o.Steps {
		t.Fatalf("%d records of %d steps", lines, o.Steps)
	}
	return o
}

// withoutMeasured is a result without what depends on the machine.
func withoutMeasured(t *testing.T, result string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(result), &fields); err != nil {
		t.Errorf("the result is broken: %v", err)
	}
	delete(fields, "measured")
	return string(must.Get(json.Marshal(fields))(t))
}

// onlyFolder returns the only folder in out, or "" if there is none yet.
func onlyFolder(t *testing.T, out string) string {
	t.Helper()
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	// one that was written for a trial
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	switch len(entries) {
	case 0:
		return ""
	case 1:
		return filepath.Join(out, entries[0].Name())
	}
	t.Fatalf("%s has %v, want one run", out, entries)
	return ""
}

// files lists the files of the run's folder with a suffix.
func files(t *testing.T, out, suffix string) []string {
	dir := onlyFolder(t, out)
	if dir == "" {
		return nil
	}
	var names []string
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// same says where two outcomes differ.
func (o outcome) same(t *testing.T, want outcome) {
	t.Helper()
	if o.Result != want.Result {
		t.Errorf("the results differ:\n%s\n%s", o.Result, want.Result)
	}
	if o.Records != want.Records {
		t.Error("the records differ")
	}
	if o.Scenario != want.Scenario {
		t.Error("the scenarios differ")
	}
}

// xlaCPU says why the XLA CPU backend cannot be used, or nothing.
var xlaCPU = sync.OnceValue(func() string {
	cmd := pclCommand("-q", "doctor", "--backend", "xla-cpu")
	if cmd.Run() != nil {
		return stderrOf(cmd) + cmd.Stdout.(*bytes.Buffer).String()
	}
	return ""
})

// needXLA skips a test where XLA is not installed, except in CI, where it must be.
func needXLA(t *testing.T) {
	t.Helper()
	why := xlaCPU()
	switch {
	case why != "" && os.Getenv("CI") != "":
		t.Fatalf("no XLA CPU backend in CI: %s", why)
	case why != "":
		t.Skipf("no XLA CPU backend (pcl doctor --backend xla-cpu installs it): %s", why)
	}
}

// TestSameSeedSameBits repeats runs on each backend, down to the last bit of model, memory and
// records. Another backend, or another number of threads, may round differently.
func TestSameSeedSameBits(t *testing.T) {
	for _, machine := range []string{"go", "xla-cpu --threads 2"} {
		t.Run(machine, func(t *testing.T) {
			if machine != "go" {
				needXLA(t)
			}
			args := append([]string{"--backend"}, strings.Fields(machine)...)
			train(t, args...).same(t, baseline(t, args...))
		})
	}
}

//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// deployable plans a grid of eight quick cells in a folder that has the data too. more is added to its file.
func deployable(t *testing.T, more string) (dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "few.toml")
	text := `
		title = "A few runs"
		datasets = ["M"]
		methods = ["GMC", "AvgGrad"]
		increments = ["task", "class"]
		labelsets = [0]
		timelines = [0]
		seeds = [1, 2]
		[set]
		batch = 32
		hidden = [8]
		memory = {budget = 2}
		[dataset.M]
		dataset = "mnist-test80"
		[method.GMC]
		method = "emgd-gmc"
		[method.AvgGrad]
		method = "avggrad"
	` + more
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "grid")
	data := tinySet(t)
	if cmd := pclCommand("grid", "plan", file, "--backend", "go", "--dir", dir, "--data-dir", data); cmd.Run() != nil {
		t.Fatal(stderrOf(cmd))
	}
	if err := os.Symlink(data, filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// containerArgs reads the arguments of the container from a manifest. Each is a line of its own, quoted as in JSON or
// not at all.
func containerArgs(t *testing.T, manifest string) (args []string) {
	t.Helper()
	_, rest, ok := strings.Cut(manifest, "args:\n")
	if !ok {
		t.Fatal("the manifest has no arguments")
	}
	for line := range strings.Lines(rest) {
		a, isArg := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !isArg {
			return args
		}
		if strings.HasPrefix(a, `"`) {
			if err := json.Unmarshal([]byte(a), &a); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, a)
	}
	return args
}

// inContainer replaces variables as Kubernetes does: $(NAME) by its value, $$ by a dollar sign.
func inContainer(arg, name, value string) string {
	var out strings.Builder
	for arg != "" {
		rest, isDollar := strings.CutPrefix(arg, "$$")
		after, isVariable := strings.CutPrefix(arg, "$("+name+")")
		switch {
		case isDollar:
			out.WriteByte('$')
			arg = rest
		case isVariable:
			out.WriteString(value)
			arg = after
		default:
			out.WriteByte(arg[0])
			arg = arg[1:]
		}
	}
	return out.String()
}

// made counts the results of each cell in the records of a grid's workers.
func made(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "records", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for lines.Scan() {
			var line struct {
				Record struct{ Event, Cell string }
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if line.Record.Event == "done" {
				out[line.Record.Cell]++
			}
		}
	}
	return out
}

// eachOnce checks that each of a number of cells was made once.
func eachOnce(t *testing.T, dir string, cells int) {
	t.Helper()
	all := made(t, dir)
	for id, n := range all {
		if n != 1 {
			t.Errorf("cell %s was made %d times", id, n)
		}
	}
	if len(all) != cells {
		t.Errorf("%d of %d cells were made", len(all), cells)
	}
}

// TestDeployKubernetes runs the command line of the container for every index, as Kubernetes would, with the volume
// where it is.
func TestDeployKubernetes(t *testing.T) {
	dir := deployable(t, "")
	file := filepath.Join(t.TempDir(), "job.yaml")
	render := pclCommand("deploy", "kubernetes", "few-full", "--dir", dir, "--shards", "3", "--image", "parallelcl:1", "--claim", "grids", "-o", file)
	if err := render.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(render))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	args, before := containerArgs(t, string(text)), 0
	for i := range 3 {
		var own []string
		for _, a := range args {
			a = inContainer(a, "JOB_COMPLETION_INDEX", strconv.Itoa(i))
			own = append(own, strings.Replace(a, "/grid", dir, 1))
		}
		cmd := pclCommand(own...)
		if err := cmd.Run(); err != nil {
			t.Fatalf("index %d: pcl %s: %v\n%s", i, strings.Join(own, " "), err, stderrOf(cmd))
		}
		if n := len(made(t, dir)); n <= before || n == 8 && i < 2 {
			t.Errorf("after index %d, %d cells are made; before it were %d", i, n, before)
		} else {
			before = n
		}
	}
	eachOnce(t, dir, 8)
}

// TestDeploySlurm runs the script for every task of the array, with two shards each.
func TestDeploySlurm(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := deployable(t, "")
	render := pclCommand("deploy", "slurm", "few-full", "--dir", dir, "--shards", "3", "--per-task", "2", "--data-dir", filepath.Join(dir, "data"))
	if err := render.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(render))
	}
	script := render.Stdout.(*bytes.Buffer).String()
	if !strings.Contains(script, "#SBATCH --array=0-1\n") || !strings.Contains(script, "#SBATCH --cpus-per-task=2\n") {
		t.Errorf("the script is\n%s", script)
	}
	for task := range 2 {
		cmd := exec.Command(bash, "-c", script)
		cmd.Env = append(os.Environ(), "SLURM_ARRAY_JOB_ID=1", fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", task))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("task %d: %v\n%s", task, err, out)
		}
	}
	eachOnce(t, dir, 8)
}

func TestDeployUsage(t *testing.T) {
	dir := deployable(t, "")
	for want, args := range map[string][]string{
		"say how many shards":      {"slurm", "few-full"},
		"must be positive":         {"slurm", "few-full", "--shards=-3"},
		"is not planned":           {"slurm", "many-full", "--shards", "3"},
		"nothing is left to work":  {"slurm", "few-full", "--shards", "3", "--limit", "2m"},
		"missing flags: --claim":   {"kubernetes", "few-full", "--shards", "3", "--image", "x"},
		"the volume claim":         {"kubernetes", "few-full", "--shards", "3", "--image", "x", "--claim", "A B"},
		"processes of a pod: 2000": {"kubernetes", "few-full", "--shards", "3", "--image", "x", "--claim", "a", "--jobs", "2000"},
	} {
		cmd := pclCommand(append(append([]string{"deploy"}, args...), "--dir", dir)...)
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(stderrOf(cmd), want) {
			t.Errorf("%v: exit code %d, said %s; want %q", args, code, stderrOf(cmd), want)
		}
	}
	unmeasured := pclCommand("deploy", "slurm", "few-full", "--each", "30m", "--dir", dir)
	if unmeasured.Run(); unmeasured.ProcessState.ExitCode() != exitFailure || !strings.Contains(stderrOf(unmeasured), "has been measured") {
		t.Errorf("--each before anything was measured: %s", stderrOf(unmeasured))
	}
}

// TestShardsFail: a shard does not fail because cells of another one do.
func TestShardsFail(t *testing.T) {
	dir := deployable(t, "\n[method.AvgGrad.optimizer]\nlr = 0.1\n[size.full]\ndatasets = [\"M\", \"Bad\"]\n[dataset.Bad]\ndataset = \"mnist-test80\"\ntasks = 40\n")
	run := func(shard string) (int, string) {
		cmd := pclCommand("grid", "run", "few-full", "--dir", dir, "--shard", shard, "--data-dir", filepath.Join(dir, "data"))
		cmd.Run()
		return cmd.ProcessState.ExitCode(), stderrOf(cmd)
	}
	if code, said := run("1/2"); code != exitFailure || !strings.Contains(said, "8 cells failed") {
		t.Errorf("the shard with impossible cells: exit code %d, said %s", code, said)
	}
	if code, said := run("0/2"); code != 0 {
		t.Errorf("the other shard: exit code %d, said %s", code, said)
	}
	if code, said := run("0/1"); code != exitFailure || !strings.Contains(said, "8 cells failed") {
		t.Errorf("all: exit code %d, said %s", code, said)
	}
}

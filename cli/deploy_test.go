//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// deployable writes a grid of eight quick runs to a folder that has the data too.
func deployable(t *testing.T) (dir, file string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "grid")
	must.Do(t, os.Mkdir(dir, 0o777))
	file = filepath.Join(dir, "few.toml")
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
	`
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	must.Do(t, os.Symlink(tinySet(t), filepath.Join(dir, "data")))
	return dir, file
}

// containerArgs reads the arguments of the container from a manifest. Each is a line of its own,
// quoted as in JSON or not at all.
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
			must.Do(t, json.Unmarshal([]byte(a), &a))
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

// made counts the runs that are finished in a folder.
func made(t *testing.T, dir string) int {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(dir, "*", "result.json")))(t)
	return len(files)
}

// TestDeployKubernetes runs the command line of the container for every index, as Kubernetes would,
// with the volume where it is.
func TestDeployKubernetes(t *testing.T) {
	dir, _ := deployable(t)
	out := filepath.Join(t.TempDir(), "job.yaml")
	// The grid's file is where pods have the volume, and this machine has not.
	render := pclCommand("deploy", "kubernetes", "table1-smoke", "--backend", "go", "--data-dir",
		filepath.Join(dir, "data"), "--dir", dir, "--shards", "3", "--image", "parallelcl:1", "--claim", "grids", "-o", out)
	if err := render.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(render))
	}
	text := must.Get(os.ReadFile(out))(t)
	args := containerArgs(t, string(text))
	for i := range 3 {
		var own []string
		for _, a := range args {
			a = inContainer(a, "JOB_COMPLETION_INDEX", strconv.Itoa(i))
			a = strings.Replace(a, "/grid", dir, 1)
			own = append(own, strings.Replace(a, "table1-smoke", filepath.Join(dir, "few.toml"), 1))
		}
		cmd := pclCommand(own...)
		if err := cmd.Run(); err != nil {
			t.Fatalf("index %d: pcl %s: %v\n%s", i, strings.Join(own, " "), err, stderrOf(cmd))
		}
	}
	if n := made(t, dir); n != 8 {
		t.Errorf("%d of 8 runs are made", n)
	}
}

// TestDeploySlurm runs the script for every task of the array, with two shards each.
func TestDeploySlurm(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir, file := deployable(t)
	render := pclCommand("deploy", "slurm", file, "--backend", "go", "--dir", dir, "--shards", "3", "--per-task", "2",
		"--data-dir", filepath.Join(dir, "data"))
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
	if n := made(t, dir); n != 8 {
		t.Errorf("%d of 8 runs are made", n)
	}
}

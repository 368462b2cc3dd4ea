//go:build unix

package deploy_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/deploy"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// task is one task of an array, run by bash with stand-ins for pcl and scontrol.
type task struct {
	dir    string
	script string
	cmd    *exec.Cmd
	out    bytes.Buffer
}

// newTask prepares the second task of three that make five shards. pcl is a shell script; $1 … are
// its arguments, and $shard is its shard.
func newTask(t *testing.T, index int, pcl string) *task {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	k := &task{dir: t.TempDir()}
	s := deploy.Slurm{Job: deploy.Job{Grid: "it's a grid", Shards: 5, CPUs: 1, XLAFlags: awkward}, Dir: k.dir + awkward,
		Program: filepath.Join(k.dir, "my pcl"), DataDir: awkward, PerTask: 2, Limit: time.Hour, Grace: time.Minute}
	k.script = text(t, s)
	for name, text := range map[string]string{
		"my pcl": "echo -n \"${XLA_FLAGS-}\" >" + k.dir + "/flags\nprintf '%s\\n' \"$@\" >\"" + k.dir +
			"/args-$$\"\nshard=$7\n" + pcl,
		"squeue":   "exit 1\n",
		"scontrol": "echo \"$@\" >>" + k.dir + "/asked\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(k.dir, name), []byte("#!/bin/bash\n"+text), 0o755))
	}
	k.cmd = exec.Command(bash, "-c", k.script)
	k.cmd.Dir = k.dir
	k.cmd.Env = append(os.Environ(), "PATH="+k.dir+":"+os.Getenv("PATH"), "SLURM_ARRAY_JOB_ID=77", "SLURM_JOB_ID=77",
		fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", index))
	k.cmd.Stdout, k.cmd.Stderr = &k.out, &k.out
	return k
}

// end waits for the task and returns its exit code, and what was asked of scontrol.
func (k *task) end(t *testing.T) (code int, asked string) {
	t.Helper()
	if k.cmd.Process == nil {
		must.Do(t, k.cmd.Start())
	}
	if err := k.cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(k.dir, "asked"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return k.cmd.ProcessState.ExitCode(), strings.TrimSpace(string(said))
}

// arguments returns those of all workers, one worker a line.
func (k *task) arguments(t *testing.T) (all [][]string) {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(k.dir, "args-*")))(t)
	for _, f := range files {
		data := must.Get(os.ReadFile(f))(t)
		all = append(all, strings.Split(strings.TrimSpace(string(data)), "\n"))
	}
	return all
}

const again = "requeue 77_1"

// TestScriptEnds tells for each way in which workers end what the task does.
func TestScriptEnds(t *testing.T) {
	for name, c := range map[string]struct {
		pcl   string
		code  int
		asked string
	}{
		"all done":              {"exit 0", 0, ""},
		"a cell failed":         {"[[ $shard != 2/5 ]]", 1, ""},
		"wrong usage":           {"exit 2", 2, ""},
		"time is up":            {"exit 75", 75, again},
		"one's time is up":      {"[[ $shard == 2/5 ]] || exit 75", 75, again},
		"interrupted":           {"exit 130", 75, again},
		"killed":                {"[[ $shard == 2/5 ]] || kill -9 $$", 75, again},
		"crashed":               {"ulimit -c 0; [[ $shard == 2/5 ]] || kill -ABRT $$", 75, again},
		"time is up, and fails": {"[[ $shard == 2/5 ]] && exit 75; exit 1", 75, again},
		"time is up, and wrong": {"[[ $shard == 2/5 ]] && exit 75; exit 2", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTask(t, 1, c.pcl)
			if code, asked := k.end(t); code != c.code || asked != c.asked {
				t.Errorf("exit code %d, scontrol %q; want %d, %q\n%s", code, asked, c.code, c.asked, &k.out)
			}
		})
	}
}

// TestScriptArguments gives the workers awkward names, and the last task only what is left of the
// shards.
func TestScriptArguments(t *testing.T) {
	shards := map[string]bool{}
	for index := range 3 {
		k := newTask(t, index, "")
		if code, _ := k.end(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, &k.out)
		}
		for _, a := range k.arguments(t) {
			want := []string{"grid", "run", "it's a grid", "--dir", k.dir + awkward, "--shard", a[6], "--time", "3480s",
				"--data-dir", awkward}
			if strings.Join(a, "\n") != strings.Join(want, "\n") {
				t.Errorf("arguments %q, want %q", a, want)
			}
			if shards[a[6]] {
				t.Errorf("shard %s twice", a[6])
			}
			shards[a[6]] = true
		}
		// as the grid was planned with
		if got, err := os.ReadFile(filepath.Join(k.dir, "flags")); err != nil || string(got) != awkward {
			t.Errorf("XLA_FLAGS is %q (%v), want %q", got, expect.Text(err), awkward)
		}
		if _, err := os.Stat(filepath.Join(k.dir, "pwned")); err == nil {
			t.Error("a name was run as a command")
		}
	}
	if len(shards) != 5 {
		t.Errorf("shards %v, want five", shards)
	}
}

// TestScriptTime: the workers' time is what Slurm says is left of the job, but never more than the
// limit. Slurm may not answer, or have no answer. 0 stands for a limit in which no worker could do
// anything.
func TestScriptTime(t *testing.T) {
	for answer, want := range map[string]int{
		"echo 10:00": 480, "echo 59:59": 3479, "echo 9:08": 428, "echo 1:00:00": 3480, "echo 2:00:00": 3480,
		"echo 1-00:00:00": 3480,
		"echo 2:30":       30, "echo 2:29": 0, "echo 0:50": 0, "echo 0:00": 0, "echo INVALID": 3480, "echo UNLIMITED": 3480,
		"echo": 3480, "exit 1": 3480,
	} {
		t.Run(answer, func(t *testing.T) {
			k := newTask(t, 1, "")
			k.squeue(t, answer)
			code, _ := k.end(t)
			if want == 0 { // going back to the queue would not help
				if code != 1 || !strings.Contains(k.out.String(), "give it more with sbatch --time") {
					t.Errorf("exit code %d\n%s", code, &k.out)
				}
				return
			}
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, &k.out)
			}
			all := k.arguments(t)
			if len(all) != 2 {
				t.Fatalf("%d workers, want two", len(all))
			}
			for _, a := range all {
				if a[8] != fmt.Sprintf("%ds", want) {
					t.Errorf("the workers' time is %s, want %ds", a[8], want)
				}
			}
		})
	}
}

// squeue makes a stand-in for squeue, which answers a question about the task. About anything else
// it has two lines.
func (k *task) squeue(t *testing.T, text string) {
	t.Helper()
	asked := `[[ " $* " == *" --jobs=77_1 "* ]] || { echo 10:00; echo 10:00; exit; } # as for the whole array` + "\n"
	must.Do(t, os.WriteFile(filepath.Join(k.dir, "squeue"), []byte("#!/bin/bash\n"+asked+text+"\n"), 0o755))
}

// TestScriptSignals sends the task what Slurm sends. The task then sends SIGUSR1 to both workers,
// which they take any number of times: Slurm may have sent it to them already.
func TestScriptSignals(t *testing.T) {
	saves := `trap 'sleep 0.2; echo saved; exit 130' USR1
		echo ready >ready-$$
		while :; do sleep 0.05; done`
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
		asked  string
	}{
		"the end of the time":           {syscall.SIGUSR1, 75, again},
		"cancelled, requeued or ousted": {syscall.SIGTERM, 130, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTask(t, 1, saves)
			must.Do(t, k.cmd.Start())
			for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if ready, _ := filepath.Glob(filepath.Join(k.dir, "ready-*")); len(ready) == 2 {
					break
				}
				if time.Now().After(deadline) {
					k.cmd.Process.Kill()
					t.Fatal("the workers did not begin")
				}
			}
			must.Do(t, k.cmd.Process.Signal(c.signal))
			code, asked := k.end(t)
			switch {
			case code != c.code:
				t.Errorf("code is %d; want %d", code, c.code)
			case asked != c.asked:
				t.Errorf("asked is %q; want %q", asked, c.asked)
			case strings.Count(k.out.String(), "saved") != 2:
				t.Errorf("exit code %d, scontrol %q; want %d, %q and two workers that saved\n%s", code, asked, c.code,
					c.asked, &k.out)
			}
		})
	}
}

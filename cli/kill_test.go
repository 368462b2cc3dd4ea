//go:build unix

package cli

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var kills = flag.Int("kills", 1, "how often TestKill kills a run of each backend")

// TestKill kills runs with SIGKILL at random moments, every other time while a checkpoint is being
// written, and resumes them until they end; another run follows until there were enough kills. What
// they leave must be what a run leaves that nobody disturbed.
func TestKill(t *testing.T) {
	for i, backend := range []string{"go", "xla-cpu"} {
		t.Run(backend, func(t *testing.T) {
			if backend != "go" {
				needXLA(t)
			}
			k := killer{rng: rand.New(rand.NewPCG(1, uint64(i))), want: baseline(t, "--backend", backend)}
			began, runs := time.Now(), 0
			for ; len(k.steps) < *kills; runs++ {
				k.run(t, backend)
			}
			slices.Sort(k.steps)
			t.Logf("%d runs of %d steps, %d kills in %.0f s at steps %v; %d of them left an unfinished checkpoint",
				runs, k.want.Steps, len(k.steps), time.Since(began).Seconds(), k.steps, k.unfinished)
		})
	}
}

type killer struct {
	rng        *rand.Rand
	want       outcome
	steps      []int // reached at each kill, at least
	unfinished int
}

// run makes one run that is killed until there were enough kills, and compares its end.
func (k *killer) run(t *testing.T, backend string) {
	out := t.TempDir()
	args := small(t, "--backend", backend, "--checkpoint-every", "7", "-o", out)
	for {
		cmd := pclCommand(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if len(k.steps) < *kills {
			k.kill(t, cmd, ended, out)
		}
		err := <-ended
		switch {
		case err == nil:
			left(t, out).same(t, k.want)
			return
		case err.Error() != "signal: killed":
			t.Fatalf("a resumed run fails: %v\n%s", err, stderrOf(cmd))
		}
		k.note(t, out)
	}
}

// kill waits for a random number of checkpoints to be begun or finished, and for a random moment
// more, unless the run ends before that.
func (k *killer) kill(t *testing.T, cmd *exec.Cmd, ended chan error, out string) {
	suffix, moment := ".pcl", time.Duration(k.rng.IntN(60))*time.Millisecond
	if k.rng.IntN(2) == 0 {
		suffix, moment = ".tmp", time.Duration(k.rng.IntN(3000))*time.Microsecond
	}
	count := 1 + k.rng.IntN(5)
	old := files(t, out, suffix)
	for seen := map[string]bool{}; len(seen) < count; time.Sleep(50 * time.Microsecond) {
		for _, name := range files(t, out, suffix) {
			if !slices.Contains(old, name) {
				seen[name] = true
			}
		}
		select {
		case err := <-ended:
			ended <- err
			return
		default:
		}
	}
	time.Sleep(moment)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// note writes down how far the killed run had come: to its newest checkpoint, and to the last line
// that was written of its records. A run that was killed while it tried whether it could write to its
// folder has neither.
func (k *killer) note(t *testing.T, out string) {
	step := 0
	for _, name := range files(t, out, ".pcl") {
		var n int
		if _, err := fmt.Sscanf(name, "checkpoint-%d.pcl", &n); err != nil {
			t.Fatal(err)
		}
		step = max(step, n)
	}
	records, err := os.ReadFile(filepath.Join(onlyFolder(t, out), "records.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	k.steps = append(k.steps, max(step, strings.Count(string(records), "\n")))
	for _, name := range files(t, out, ".tmp") {
		k.unfinished++
		if err := os.Remove(filepath.Join(onlyFolder(t, out), name)); err != nil {
			t.Fatal(err)
		}
	}
}

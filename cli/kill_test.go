//go:build unix

package cli

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
)

var kills = flag.Int("kills", 1, "how often TestKill kills a run of each backend")

// TestKill kills runs with SIGKILL at random moments, every other time while a checkpoint is being
// written, and resumes them until they end; another run follows until there were enough kills.
// Their files must equal those of a run that nobody disturbed. One method learns from sums, one
// also by gradients.
func TestKill(t *testing.T) {
	for i, flags := range [][]string{
		{"go"}, {"xla-cpu"}, {"go", "--method", "lda"},
		{"go", "--method", "ranpac-trained", "--param", "m=60", "--param", "held-out=2"},
	} {
		backend := flags[0]
		flags = append([]string{"--backend"}, flags...)
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			if backend != "go" {
				needXLA(t)
			}
			want, rng := baseline(t, flags...), rand.New(rand.NewPCG(1, uint64(i)))
			for killed := 0; killed < *kills; {
				out := t.TempDir()
				args := small(t, append(flags, "--checkpoint-every", "7", "-o", out)...)
				for killed < *kills && killedAtRandom(t, rng, args, out) {
					killed++
				}
				if cmd := pclCommand(args...); cmd.Run() != nil {
					t.Fatalf("a resumed run fails: %s", stderrOf(cmd))
				}
				left(t, out).same(t, want)
			}
		})
	}
}

// killedAtRandom begins a run and kills it after a random number of checkpoints were begun or
// finished there, and a random moment more. It returns false if the run came to its end before.
func killedAtRandom(t *testing.T, rng *rand.Rand, args []string, out string) bool {
	t.Helper()
	suffix, moment := ".pcl", time.Duration(rng.IntN(60))*time.Millisecond
	if rng.IntN(2) == 0 {
		suffix, moment = ".tmp", time.Duration(rng.IntN(3000))*time.Microsecond
	}
	old, seen, count := files(t, out, suffix), map[string]bool{}, 1+rng.IntN(5)
	cmd := pclCommand(args...)
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for len(seen) < count && len(ended) == 0 {
		time.Sleep(50 * time.Microsecond)
		for _, name := range files(t, out, suffix) {
			if !slices.Contains(old, name) {
				seen[name] = true
			}
		}
	}
	time.Sleep(moment)
	_ = cmd.Process.Kill() // unless it has just ended
	err := <-ended
	if err != nil && err.Error() != "signal: killed" {
		t.Fatalf("the run fails: %v\n%s", err, stderrOf(cmd))
	}
	return err != nil
}

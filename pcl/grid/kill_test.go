//go:build unix

package grid

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

var kills = flag.Int("kills", 4, "how many processes TestKill kills or interrupts")

// killed is the grid of TestKill. Its runs last long enough to be interrupted.
func killed(t testing.TB) *Grid { return expanded(t, tiny(t, 4, "\n[size.full]\nset.epochs = 15\n")) }

// workerFolder is the environment variable that makes the test binary a process of a grid, which
// reads the file of the configurations in that folder.
const workerFolder = "PARALLELCL_GRID_TEST_WORKER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workerFolder); dir != "" {
		os.Exit(workerProcess(dir))
	}
	os.Exit(m.Run())
}

// workerProcess makes runs in a process of its own, and writes down each that it has made.
func workerProcess(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGUSR1)
	defer stop()
	p := &Grid{}
	var configs []experiment.Config
	data, err := os.ReadFile(filepath.Join(dir, "runs.json"))
	if err == nil {
		err = json.Unmarshal(data, &configs)
	}
	for _, c := range configs {
		run, e := c.Check()
		p.Runs, err = append(p.Runs, run), errors.Join(err, e)
	}
	if err == nil {
		store := experiment.Store{Dir: dir, Attempts: 1000, CheckpointEvery: 20}
		err = p.Work(ctx, store, experiment.Schedule{Machine: goMachine, OnProgress: func(i int, s experiment.Progress) {
			if s.Step == s.Steps { // the run is about to be finished
				f, err := os.OpenFile(filepath.Join(dir, "made"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
				if err == nil {
					fmt.Fprintln(f, i)
					f.Close()
				}
			}
		}})
	}
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKill lets two processes at a time share a folder, and kills or interrupts them at random
// moments. When enough of them have come to their end, the last ones finish the grid: every run has
// its result, the one that it has undisturbed, and none was made twice but for those that a kill
// took before its result was written.
func TestKill(t *testing.T) {
	p, dir := killed(t), t.TempDir()
	data, err := json.Marshal(configsOf(p.Runs))
	if err != nil || os.WriteFile(filepath.Join(dir, "runs.json"), data, 0o666) != nil {
		t.Fatal(expect.Text(err))
	}
	var mu sync.Mutex
	var slots sync.WaitGroup
	ended := map[string]int{}
	for slot := range 2 {
		slots.Go(func() {
			rng := rand.New(rand.NewPCG(5, uint64(slot)))
			for n := slot; ; n++ {
				mu.Lock()
				enough := ended["killed"]+ended["interrupted"] >= *kills
				mu.Unlock()
				end, said := oneWorker(t, dir, []os.Signal{os.Kill, syscall.SIGTERM, os.Kill, syscall.SIGUSR1}[n%4], rng, enough)
				mu.Lock()
				switch end {
				case "signal: killed":
					ended["killed"]++
				case "exit status 130", "signal: terminated", "signal: user defined signal 1":
					ended["interrupted"]++ // the last two before the process listened
				case "":
				default:
					t.Errorf("a process ended with %s\n%s", end, said)
				}
				mu.Unlock()
				if end == "" || t.Failed() {
					return
				}
			}
		})
	}
	slots.Wait()
	t.Log(ended)
	if ended["killed"] == 0 || ended["interrupted"] == 0 {
		t.Error("that tests little")
	}
	r, err := p.Results(dir)
	switch {
	case err != nil:
		t.Fatal(err)
	case len(finishedRuns(r)) != len(p.Runs):
		t.Fatalf("%+v, %v", r.Status(experiment.Shard{}), err)
	}
	made, err := os.ReadFile(filepath.Join(dir, "made"))
	switch n := bytes.Count(made, []byte("\n")); {
	case err != nil:
		t.Error(err)
	case n < len(p.Runs):
		t.Errorf("n is %d; want at least %d", n, len(p.Runs))
	case n > len(p.Runs)+ended["killed"]:
		t.Errorf("n is %d; want at most %d", n, len(p.Runs)+ended["killed"])
	}
	for e, err := range experiment.Each(t.Context(), p.Runs[:2], experiment.Store{Dir: t.TempDir()},
		experiment.Schedule{Machine: goMachine}) {
		if err != nil || e.Run.ModelSHA256 != finishedRuns(r)[e.Index].ModelSHA256 {
			t.Errorf("run %d has another result undisturbed (%v)", e.Index, expect.Text(err))
		}
	}
}

// oneWorker starts a process and, unless enough of them have been, ends it at a random moment. It
// returns how it ended.
func oneWorker(t *testing.T, dir string, s os.Signal, rng *rand.Rand, enough bool) (end, said string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerFolder+"="+dir)
	var text bytes.Buffer
	cmd.Stderr = &text
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return "not started", ""
	}
	if !enough {
		ended := make(chan struct{})
		defer close(ended)
		go signalUntil(ended, cmd.Process, s, time.Duration(150+rng.IntN(400))*time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		return err.Error(), text.String()
	}
	return "", ""
}

// signalUntil signals a process after a while, and then every second until it has ended: a process
// that does not listen yet passes over SIGUSR1, and a busy machine is slow to start one.
func signalUntil(ended <-chan struct{}, p *os.Process, s os.Signal, after time.Duration) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(after):
			p.Signal(s)
			after = time.Second
		}
	}
}

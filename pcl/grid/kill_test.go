//go:build unix

package grid

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

var kills = flag.Int("kills", 12, "how many workers TestKill kills or interrupts")

// workerFolder is the environment variable that makes the test binary a worker.
const workerFolder = "PARALLELCL_GRID_TEST_WORKER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workerFolder); dir != "" {
		os.Exit(workerProcess(Folder{dir}))
	}
	os.Exit(m.Run())
}

// workerProcess is a worker in a process of its own.
func workerProcess(f Folder) int {
	m, err := f.Manifest("small-full")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGUSR1)
	defer stop()
	_, err = f.Work(ctx, m, &fake{steps: 20, step: 2 * time.Millisecond, save: 5}, WorkOptions{Attempts: 1000, Expiry: 2 * time.Second})
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKill lets two workers at a time share a folder, and kills or interrupts them at random moments. When enough of
// them have come to their end, the last ones finish the grid: every cell has one result, and nothing is left over.
func TestKill(t *testing.T) {
	f, m := planned(t, small(t, 15))
	var killed, interrupted int
	var mu sync.Mutex
	var slots sync.WaitGroup
	for slot := range 2 {
		slots.Go(func() {
			rng := rand.New(rand.NewPCG(5, uint64(slot)))
			for {
				mu.Lock()
				enough := killed+interrupted >= *kills
				mu.Unlock()
				end, said := oneWorker(t, f, rng, enough)
				mu.Lock()
				switch end {
				case "signal: killed":
					killed++
				case "exit status 130", "signal: terminated", "signal: user defined signal 1":
					interrupted++ // the last two before the process listened
				case "":
				default:
					t.Errorf("a worker ended with %s\n%s", end, said)
				}
				mu.Unlock()
				if end == "" || t.Failed() {
					return
				}
			}
		})
	}
	slots.Wait()
	t.Logf("%d workers killed, %d interrupted", killed, interrupted)
	if killed == 0 || interrupted == 0 {
		t.Error("that tests little")
	}
	x, err := f.Index()
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Damaged) > 0 {
		t.Errorf("damaged records: %v", x.Damaged)
	}
	if _, err := f.Clean(); err != nil { // a worker may have been killed between a result and the end of its lease
		t.Fatal(err)
	}
	complete(t, f, m, 20)
}

// oneWorker starts a worker and, unless enough of them have been, ends it at a random moment. It returns how it ended.
func oneWorker(t *testing.T, f Folder, rng *rand.Rand, enough bool) (end, said string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerFolder+"="+f.Dir)
	var text bytes.Buffer
	cmd.Stderr = &text
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return "not started", ""
	}
	if !enough {
		s := []os.Signal{os.Kill, os.Kill, syscall.SIGTERM, syscall.SIGUSR1}[rng.IntN(4)]
		ended := make(chan struct{})
		defer close(ended)
		go signalUntil(ended, cmd.Process, s, time.Duration(50+rng.IntN(150))*time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		return err.Error(), text.String()
	}
	return "", ""
}

// signalUntil signals a process after a while, and then every second until it has ended: a process that does not listen yet
// passes over SIGUSR1, and a busy machine is slow to start one.
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

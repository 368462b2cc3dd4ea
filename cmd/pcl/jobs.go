package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// shard is a part of the runs: every N-th of them, from the I-th on.
type shard struct{ I, N int }

// UnmarshalText reads "I/N", I from 0.
func (s *shard) UnmarshalText(text []byte) error {
	if n, err := fmt.Sscanf(string(text), "%d/%d", &s.I, &s.N); n != 2 || err != nil || s.I < 0 || s.I >= s.N {
		return fmt.Errorf("%q is no part I/N of the runs, 0 ≤ I < N", text)
	}
	return nil
}

// of returns the part of the configurations.
func (s shard) of(configs []pcl.Config) []pcl.Config {
	if s.N == 0 {
		return configs
	}
	var out []pcl.Config
	for i := s.I; i < len(configs); i += s.N {
		out = append(out, configs[i])
	}
	return out
}

// inProcesses makes the runs in several processes of this program, of one compute thread each unless
// the flags say otherwise: small models gain nothing from a second thread, but whole runs share nothing.
func (c *runCmd) inProcesses(rc *runContext, configs []pcl.Config) ([]*results.Run, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	jobs := min(c.Jobs, len(configs))
	args := withoutJobs(os.Args[1:])
	began := time.Now()
	done := make(chan struct{})
	go c.watch(rc, configs, began, done)
	var group errgroup.Group
	for i := range jobs {
		group.Go(func() error {
			part := []string{"--quiet", fmt.Sprintf("--shard=%d/%d", i, jobs)}
			return process(rc.ctx, program, slices.Concat(args, part)) // append would let the processes share an array
		})
	}
	err = group.Wait()
	close(done)
	if rc.ctx.Err() != nil {
		return nil, fmt.Errorf("%w; go on with: pcl %s --resume", pcl.ErrInterrupted, strings.Join(quoted(os.Args[1:]), " "))
	}
	if err != nil {
		return nil, err
	}
	var runs []*results.Run
	for _, config := range configs {
		r, err := results.Load(filepath.Join(c.dir(config), pcl.ResultFile))
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// process runs this program once more; an interrupt reaches it too, and it is given time to save.
func process(ctx context.Context, program string, args []string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("pcl %s: %w", strings.Join(args, " "), err), errors.New(strings.TrimSpace(said.String())))
	}
	return nil
}

// withoutJobs leaves the flag out that starts processes.
func withoutJobs(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case strings.HasPrefix(a, "--jobs="), a == "--json":
		case a == "--jobs":
			i++ // its value
		default:
			out = append(out, a)
		}
	}
	return out
}

// watch tells every few seconds how many runs are finished.
func (c *runCmd) watch(rc *runContext, configs []pcl.Config, began time.Time, done <-chan struct{}) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		finished := 0
		for _, config := range configs {
			if info, err := os.Stat(filepath.Join(c.dir(config), pcl.ResultFile)); err == nil && info.ModTime().After(began) {
				finished++
			}
		}
		if !rc.quiet {
			fmt.Fprintf(rc.stderr, "%d of %d runs finished after %s\n", finished, len(configs), time.Since(began).Round(time.Second))
		}
	}
}

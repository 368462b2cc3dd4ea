package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// inProcesses makes the runs in several processes of this program. Each process has as many compute threads as this one would
// have, since their number changes the rounding: one for small models, which gain nothing from a second, and one for each core
// for a ResNet, where --threads 1 makes the processes leave each other alone.
func (c *runCmd) inProcesses(rc *runContext, configs []experiment.Checked, finished []*results.Run) ([]*results.Run, error) {
	if _, err := c.dataset(rc, &experiment.Machine{DataDir: c.DataDir}, configs); err != nil { // checked once here instead of in every process
		return nil, err
	}
	defer rc.hold()() // after an interrupt, the processes save their runs and end by themselves
	n := min(int(c.Jobs), len(configs))
	if !rc.quiet {
		fmt.Fprintf(rc.stderr, "Runs: %d, processes: %d\n", len(configs), n)
	}
	stop := c.watch(rc, configs, finished)
	err := inProcesses(rc.ctx, n)
	stop()
	if errors.Is(err, experiment.ErrInterrupted) {
		err = fmt.Errorf("%w; %s", err, goOn())
	}
	if err != nil {
		return nil, err
	}
	return c.collect(rc, configs)
}

// inProcesses runs this program in n processes, each of which makes a part of the runs.
func inProcesses(ctx context.Context, n int) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ends := make([]error, n)
	var all sync.WaitGroup
	for i := range ends {
		all.Go(func() { ends[i] = process(ctx, program, shard{i, n}) })
	}
	all.Wait()
	return together(ends)
}

// collect loads the results that the processes have written.
func (c runCmd) collect(rc *runContext, configs []experiment.Checked) ([]*results.Run, error) {
	c.Replace, c.Checkpoint = false, "" // the processes did that
	runs, err := c.finished(configs)
	if i := slices.Index(runs, nil); i >= 0 {
		err = fmt.Errorf("the process that was to make the run in %s ended without a result", c.dir(configs[i].Config))
	}
	if err == nil && c.JSON {
		err = printJSONLines(rc.stdout, runs)
	}
	return runs, err
}

// processError is the error of a process of --jobs that failed.
type processError struct {
	code int // with which it ended, if it had begun; negative if it was killed, so that it could not say why
	err  error
	said string // what it wrote to standard error, which in most cases says why
}

func (e *processError) Error() string {
	said := strings.TrimPrefix(strings.TrimSpace(e.said), "pcl: ")
	switch {
	case e.code < 0:
		return strings.TrimSpace(fmt.Sprintf("a process of --jobs was killed (%v); %s\n%s", e.err, goOn(), said))
	case said != "":
		return said
	}
	return fmt.Sprintf("a process of --jobs: %v", e.err)
}

// together combines the errors of all processes. One that failed counts most, then an interrupt, then the end of the time.
func together(ends []error) error {
	var failed, stopped, late error
	for _, err := range ends {
		end := new(processError)
		errors.As(err, &end)
		switch {
		case errors.Is(err, context.Canceled), end.code == exitInterrupted:
			stopped = experiment.ErrInterrupted
		case end.code == exitTimeUp:
			late = experiment.ErrTimeUp
		default:
			failed = errors.Join(failed, err)
		}
	}
	return cmp.Or(failed, stopped, late)
}

// process runs this program once more, with the same arguments, for a part of the runs. The standard input of the new
// process is a pipe to which nothing is written. The pipe is closed by an interrupt, and also when this process ends,
// for whatever reason. The new process then saves its run and ends (see withParent), which may take as long as a step and an
// evaluation: it is waited for, until a second interrupt.
func process(ctx context.Context, program string, part shard) error {
	cmd := exec.CommandContext(ctx, program, os.Args[1:]...)
	cmd.Env = append(os.Environ(), partVariable+"="+part.String())
	var said strings.Builder
	cmd.Stderr = &said
	line, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Cancel = func() error {
		line.Close()
		return os.ErrProcessDone // so that the process's own exit code decides, not the interrupt
	}
	if err := cmd.Run(); err != nil {
		end := &processError{err: err, said: said.String()}
		if cmd.ProcessState != nil { // it had begun
			end.code = cmd.ProcessState.ExitCode()
		}
		return end
	}
	return nil
}

// withParent returns a context that also ends when the process that started this one closes the standard input.
// Further interrupts are ignored: in a terminal, Ctrl-C reaches the processes of --jobs too, when they are already
// saving their runs.
func withParent(ctx context.Context) context.Context {
	ctx, end := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		end()
	}()
	return ctx
}

// watch prints every few seconds how many runs are finished.
func (c *runCmd) watch(rc *runContext, configs []experiment.Checked, finished []*results.Run) (stop func()) {
	began := time.Now()
	return rc.meanwhile(func() {
		n := 0
		for i, config := range configs {
			info, err := os.Stat(filepath.Join(c.dir(config.Config), experiment.ResultFile))
			if finished[i] != nil || err == nil && info.ModTime().After(began) {
				n++
			}
		}
		fmt.Fprintf(rc.stderr, "%d of %d runs finished after %s\n", n, len(configs), time.Since(began).Round(time.Second))
	})
}

// meanwhile calls say every few seconds until stop is called.
func (rc *runContext) meanwhile(say func()) (stop func()) {
	if rc.quiet {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		for tick := time.Tick(lineEvery); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
				say()
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

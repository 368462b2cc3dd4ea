package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridRunCmd makes cells.
type gridRunCmd struct {
	Names []string `arg:"" name:"name" help:"Planned grids, such as table1-smoke."`
	gridDir
	Jobs            number        `short:"j" default:"1" placeholder:"N" help:"Number of processes on this machine (default ${default}); one per core is best on a CPU."`
	Shard           shard         `placeholder:"I/N" help:"Make only the Ith of N parts of the cells, counted from 0, which take about the same time each."`
	Time            time.Duration `placeholder:"TIME" help:"Time that this command may take, such as 55m: it begins no cell that will not end in time, and saves the one it is at early enough."`
	CheckpointEvery count         `default:"500" placeholder:"N" help:"Steps between checkpoints (default ${default}); 0 saves only when the command is interrupted."`
	Attempts        number        `default:"3" placeholder:"N" help:"How many processes in a row may be killed at a cell before it counts as failed (default ${default})."`
	Clients         count         `default:"1" placeholder:"N" help:"Compute the gradients of N streams at the same time on the XLA CPU backend; results are the same."`
	DataDir         string        `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`

	retry bool
}

// gridRetryCmd makes the cells that have failed.
type gridRetryCmd struct{ gridRunCmd }

func (c *gridRetryCmd) Run(rc *runContext) error {
	c.retry = true
	return c.gridRunCmd.Run(rc)
}

func (c *gridRunCmd) Run(rc *runContext) error {
	if c.Time < 0 {
		return usageError{fmt.Errorf("--time %s is negative", c.Time)}
	}
	if c.Time > 0 && c.Time <= grid.DefaultReserve {
		return usageError{fmt.Errorf("--time %s is too short: %s of it are kept free for saving", c.Time, grid.DefaultReserve)}
	}
	if c.Jobs > 1024 {
		return usageError{fmt.Errorf("--jobs %d: want 1 to 1024 processes", c.Jobs)}
	}
	var all []*grid.Manifest
	for _, name := range c.Names {
		m, err := c.folder().Manifest(name)
		if err == nil {
			err = m.Check()
		}
		if err != nil {
			return unplanned(err)
		}
		all = append(all, m)
	}
	part, isPart, err := ownPart()
	if err != nil {
		return usageError{err}
	}
	ctx, release := saveOnSignal(rc.ctx)
	defer release()
	defer rc.hold()() // an interrupt waits until the current run has been saved
	rc.quiet = rc.quiet || isPart
	if c.Jobs > 1 && !isPart {
		err = c.inProcesses(ctx, rc)
	} else {
		err = c.inThisProcess(ctx, rc, all, part)
	}
	if isPart {
		return err // the process that started this one says what happened
	}
	return c.report(rc, all, err)
}

// saveOnSignal returns a context that ends with the signals by which schedulers announce the end of a job.
func saveOnSignal(ctx context.Context) (context.Context, func()) {
	if len(saveSignals) == 0 {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, saveSignals...)
}

// inThisProcess makes the cells of all grids, one after another. Grids that compute in the same way share a backend
// and its compiled programs. If data are missing for one, or its cells do not end in time, the others are made
// nevertheless.
func (c *gridRunCmd) inThisProcess(ctx context.Context, rc *runContext, all []*grid.Manifest, begin shard) (err error) {
	end := time.Now().Add(c.Time)
	var engine *grid.Engine
	var how grid.Compute
	var missing, late error
	defer func() {
		if engine != nil {
			err = errors.Join(err, engine.Close())
		}
	}()
	for _, m := range all {
		if engine == nil || m.Compute != how {
			if engine != nil {
				if err := engine.Close(); err != nil {
					return err
				}
			}
			how = m.Compute
			engine = grid.NewEngine(grid.EngineOptions{
				Compute: how, Clients: int(c.Clients), DataDir: c.DataDir, CheckpointEvery: int(c.CheckpointEvery),
				Say: func(sentence string) { c.say(rc, sentence) },
			})
		}
		o := grid.WorkOptions{
			Shard: c.Shard.ofGrid(), Begin: begin.ofGrid(), Retry: c.retry, Attempts: int(c.Attempts),
			Say: func(sentence string) { c.say(rc, m.Name+": "+sentence) },
		}
		if c.Time > 0 {
			if o.Time = time.Until(end); o.Time <= 0 {
				return grid.ErrTimeUp
			}
		}
		stop := c.watch(rc, m.Name)
		_, err := c.folder().Work(ctx, m, engine, o)
		stop()
		switch {
		case errors.Is(err, grid.ErrTimeUp):
			late = err
		case errors.Is(err, grid.ErrNoData):
			missing = errors.Join(missing, err)
		case err != nil:
			return errors.Join(missing, err)
		}
	}
	if late != nil {
		return late
	}
	return missing
}

func (c *gridRunCmd) say(rc *runContext, sentence string) {
	if !rc.quiet {
		fmt.Fprintln(rc.stderr, sentence)
	}
}

// inProcesses makes the cells in several processes of this program, which begin at different places of the grid.
func (c *gridRunCmd) inProcesses(ctx context.Context, rc *runContext) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		defer c.watch(rc, name)()
	}
	ends := make([]error, c.Jobs)
	var all sync.WaitGroup
	for i := range ends {
		all.Go(func() { ends[i] = process(ctx, program, shard{i, len(ends)}) })
	}
	all.Wait()
	return endOfAll(ends)
}

// endOfAll combines the errors of all processes. One that failed counts most, then an interrupt, then the end of the
// time.
func endOfAll(ends []error) error {
	var failed []error
	var stopped, late bool
	for _, err := range ends {
		end, exit := new(processError), new(exec.ExitError)
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled), errors.As(err, &end) && end.interrupted():
			stopped = true
		case errors.As(err, &end) && errors.As(end.err, &exit) && exit.ExitCode() == exitTimeUp:
			late = true
		case errors.As(err, &end) && end.killed():
			failed = append(failed, fmt.Errorf("a process of --jobs was killed (%v)\n%s", end.err, strings.TrimSpace(end.said)))
		default:
			failed = append(failed, err)
		}
	}
	switch {
	case len(failed) > 0:
		return errors.Join(failed...)
	case stopped:
		return experiment.ErrInterrupted
	case late:
		return grid.ErrTimeUp
	}
	return nil
}

// watch prints how far a grid has come, whenever cells have ended and once a minute otherwise.
func (c *gridRunCmd) watch(rc *runContext, name string) (stop func()) {
	if rc.quiet {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lineEvery)
		defer tick.Stop()
		w, err := c.folder().Watch(name)
		last, printed := 0, time.Now()
		for err == nil {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			var s *grid.Status
			if s, err = w.Status(); err == nil && (s.Left != last || time.Since(printed) >= time.Minute) {
				last, printed = s.Left, time.Now()
				fmt.Fprintln(rc.stderr, oneLine(s))
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// report says what is done and what is left, after err ended the work. What failed in other shards is not this
// command's failure.
func (c *gridRunCmd) report(rc *runContext, all []*grid.Manifest, err error) error {
	failed := 0
	for _, m := range all {
		s, e := c.folder().Status(m.Name)
		if e != nil {
			return errors.Join(err, e)
		}
		own := m.Part(c.Shard.ofGrid())
		for _, f := range s.Failures {
			if slices.ContainsFunc(own, func(c grid.Cell) bool { return c.ID == f.Cell.ID }) {
				failed++
			}
		}
		if !rc.quiet {
			fmt.Fprintln(rc.stderr, oneLine(s))
		}
	}
	again := fmt.Sprintf("go on with: pcl %s", strings.Join(quoted(os.Args[1:]), " "))
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return fmt.Errorf("%w; finished cells are recorded and the others saved; %s", experiment.ErrInterrupted, again)
	case errors.Is(err, grid.ErrTimeUp):
		return fmt.Errorf("%w, and cells are left; %s", grid.ErrTimeUp, again)
	case err != nil:
		return fmt.Errorf("%w; finished cells are recorded; %s", err, again)
	case failed > 0:
		return fmt.Errorf("%s failed: pcl grid status%s says why, pcl grid retry makes them again", plural.Of(failed, "cell"), c.flag())
	}
	return nil
}

// oneLine says in a line how far a grid has come.
func oneLine(s *grid.Status) string {
	text := fmt.Sprintf("%s: %d of %d cells done", s.Name, s.Done, s.Cells)
	for _, part := range []struct {
		n    int
		what string
	}{{s.Running, "running"}, {s.Saved, "begun"}, {s.Failed, "failed"}, {s.Diverged, "diverged"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	if left := timeLeft(s); left != "" {
		text += ". " + left
	}
	return text
}

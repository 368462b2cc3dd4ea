package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridRunCmd makes the runs of grids.
type gridRunCmd struct {
	Names []string `arg:"" name:"grid" help:"Built-in grids (pcl grid list), also with their size, such as table1-smoke; or TOML files."`
	gridFlags
	machineFlags
	Jobs            int           `range:"whole [1,1024]" short:"j" default:"1" placeholder:"N" help:"Number of runs that are made at the same time (default ${default}); one per core is best on a CPU."`
	Shard           shard         `placeholder:"I/N" help:"Make only the Ith of N parts of the runs, counted from 0. The part of a run follows from its id."`
	Time            time.Duration `placeholder:"TIME" help:"Time that this command may take, such as 55m: the run in progress is then saved."`
	CheckpointEvery int           `range:"whole [0,inf)" default:"500" placeholder:"N" help:"Steps between checkpoints (default ${default}); 0 saves only when the command is interrupted."`
	Attempts        int           `range:"whole [1,inf)" default:"3" placeholder:"N" help:"How many processes in a row may be killed at a run before it counts as failed (default ${default})."`

	retry bool
}

// gridRetryCmd also makes the runs that have failed.
type gridRetryCmd struct{ gridRunCmd }

func (c *gridRetryCmd) Run(rc *runContext) error {
	c.retry = true
	return c.gridRunCmd.Run(rc)
}

// reserve is the part of --time that is kept free for saving.
const reserve = 5 * time.Second

func (c *gridRunCmd) Run(rc *runContext) error {
	until := time.Time{}
	switch {
	case c.Time < 0:
		return usageError{fmt.Errorf("--time %s is negative", c.Time)}
	case c.Time > 0 && c.Time <= reserve:
		return usageError{fmt.Errorf("--time %s is too short: %s of it are kept free for saving", c.Time, reserve)}
	case c.Time > 0:
		until = time.Now().Add(c.Time - reserve)
	}
	all, err := c.plans(c.Names)
	if err != nil {
		return err
	}
	return c.work(rc, all, until)
}

// work makes the runs of grids. An interrupt waits until the runs in progress have been saved.
func (c *gridRunCmd) work(rc *runContext, all []*grid.Plan, until time.Time) error {
	ctx, release := saveOnSignal(rc.ctx)
	defer release()
	defer rc.hold()()
	for _, p := range all {
		if c.retry {
			if err := p.Retry(c.Dir, c.Shard.Shard); err != nil {
				return err
			}
		}
	}
	stop := c.watch(rc, all)
	err := c.runs(ctx, rc, all, until)
	stop()
	return c.report(rc, all, err)
}

// saveOnSignal returns a context that ends with the signals by which schedulers announce the end of a job.
func saveOnSignal(ctx context.Context) (context.Context, func()) {
	if len(saveSignals) == 0 {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, saveSignals...)
}

// runs makes the runs of all grids, one grid after another. If data are missing for one, the others are made.
func (c *gridRunCmd) runs(ctx context.Context, rc *runContext, all []*grid.Plan, until time.Time) error {
	c.share(c.Jobs)
	m := c.machine(rc, c.DataDir)
	defer m.Close()
	w := experiment.Where{
		Machine: m, Jobs: c.Jobs, Dir: c.Dir, Shard: c.Shard.Shard, Until: until, Attempts: c.Attempts,
		Say: func(sentence string) {
			if !rc.quiet {
				fmt.Fprintln(rc.stderr, sentence)
			}
		},
		Options: func(config experiment.Config) experiment.RunOptions {
			o := experiment.RunOptions{Resume: true, CheckpointEvery: c.CheckpointEvery, Keep: 2}
			if c.retry { // also what another program made
				done, err := experiment.Finished(filepath.Join(c.Dir, config.Folder()), config)
				o.Replace = done == nil && (err == nil || errors.Is(err, experiment.ErrForeign))
			}
			return o
		},
	}
	var missing error
	for _, p := range all {
		err := p.Work(ctx, w)
		if errors.Is(err, grid.ErrNoData) {
			missing = errors.Join(missing, err)
		} else if err != nil {
			return errors.Join(missing, err)
		}
	}
	return missing
}

// watch prints how far grids have come, whenever runs have ended and once a minute otherwise.
func (c *gridRunCmd) watch(rc *runContext, all []*grid.Plan) (stop func()) {
	var results []*grid.Results
	left, printed := make([]int, len(all)), time.Now()
	return rc.meanwhile(func() {
		again := time.Since(printed) >= time.Minute
		for i, p := range all {
			var err error
			if len(results) > i {
				err = results[i].Refresh()
			} else if r, e := p.Results(c.Dir); e == nil {
				results = append(results, r)
			} else {
				err = e
			}
			if err != nil {
				return // the end of the work says it
			}
			if s := results[i].Status(experiment.Shard{}); s.Left != left[i] || again && s.Left > 0 {
				left[i], printed = s.Left, time.Now()
				fmt.Fprintln(rc.stderr, oneLine(s))
			}
		}
	})
}

// report says what is done and what is left, after err ended the work. What failed in other shards is not this
// command's failure.
func (c *gridRunCmd) report(rc *runContext, all []*grid.Plan, err error) error {
	failed := 0
	for _, p := range all {
		r, e := p.Results(c.Dir)
		if e != nil {
			return errors.Join(err, e)
		}
		failed += r.Status(c.Shard.Shard).Failed
		if !rc.quiet {
			fmt.Fprintln(rc.stderr, oneLine(r.Status(experiment.Shard{})))
		}
	}
	again := fmt.Sprintf("go on with: pcl %s", strings.Join(quoted(os.Args[1:]), " "))
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return fmt.Errorf("%w; finished runs are kept and the others saved; %s", experiment.ErrInterrupted, again)
	case errors.Is(err, experiment.ErrTimeUp):
		return fmt.Errorf("%w, and runs are left; %s", experiment.ErrTimeUp, again)
	case err != nil:
		return fmt.Errorf("%w; finished runs are kept; %s", err, again)
	case failed > 0:
		return fmt.Errorf("%s failed: pcl grid status says why, pcl grid retry makes them again", plural.Of(failed, "run"))
	}
	return nil
}

// oneLine says in a line how far a grid has come.
func oneLine(s *grid.Status) string {
	text := fmt.Sprintf("%s: %d of %d runs done", s.Name, s.Done, s.Runs)
	for _, part := range []struct {
		n    int
		what string
	}{{s.Running, "running"}, {s.Saved, "begun"}, {s.Failed, "failed"}, {s.Diverged, "diverged"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return text
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

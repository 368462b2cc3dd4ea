package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/internal/pyrule"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridWork are the flags of commands that make the runs of grids.
type gridWork struct {
	Jobs int `range:"whole [1,1024]" short:"j" default:"1" placeholder:"N" help:"Runs to make at the same time (default ${default}); one per core is best on a CPU."`
	machineFlags
}

type gridRunCmd struct {
	Names []string `arg:"" name:"grid" help:"Built-in grids (pcl grid list), also with their size, such as table1-smoke; or TOML files."`
	gridFlags
	gridWork
	Shard           shard         `placeholder:"I/N" help:"Make only part I of N of the runs, counted from 0. A run's id decides which part it is in."`
	Time            time.Duration `placeholder:"TIME" help:"Stop after this time, for example 55m, and save the run in progress."`
	CheckpointEvery int           `range:"whole [0,inf)" default:"500" placeholder:"N" help:"Steps between checkpoints (default ${default}); 0 saves only when the command is interrupted."`
	Attempts        int           `range:"whole [1,inf)" default:"3" placeholder:"N" help:"A run fails when this many processes in a row were killed while making it (default ${default})."`

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

// Validate wants a time in which a run can be made.
func (c *gridRunCmd) Validate() error {
	if c.Time != 0 && c.Time <= reserve {
		return fmt.Errorf("--time %s is too short: %s of it are kept free for saving", c.Time, reserve)
	}
	return nil
}

func (c *gridRunCmd) Run(rc *runContext) error {
	store := experiment.Store{Dir: c.Dir, Attempts: c.Attempts, Replace: c.retry, CheckpointEvery: c.CheckpointEvery}
	schedule := experiment.Schedule{Shard: c.Shard.Shard}
	if c.Time > 0 {
		schedule.Until = time.Now().Add(c.Time - reserve)
	}
	all, err := c.plans(c.Names)
	if err != nil {
		return err
	}
	return c.work(rc, all, store, schedule)
}

// work makes the runs of grids, one grid after another. If data are missing for one, the others are
// made. An interrupt waits until the runs in progress have been saved.
func (c *gridWork) work(
	rc *runContext, all []*grid.Grid, store experiment.Store, schedule experiment.Schedule,
) error {
	for _, g := range all {
		for _, config := range g.Runs { // before any of them fails
			method := config.Config().Method
			if err := pyrule.Allowed(method); err != nil {
				return usagef("method %s: %w", method, err)
			}
		}
	}
	ctx, release := saveOnSignal(rc.ctx)
	defer release()
	defer rc.hold()()
	c.share(c.Jobs)
	schedule.Machine, schedule.Jobs, schedule.Log = c.machine(rc, all[0].DataDir), c.Jobs, rc.say
	defer schedule.Machine.Close()
	var missing error
	for _, g := range all {
		end := follow(rc, &schedule, nil,
			func(i int, config experiment.Config) string { return label(i, len(g.Runs), config) })
		err := g.Work(ctx, store, schedule)
		end()
		if missing = errors.Join(missing, err); err != nil && !errors.Is(err, experiment.ErrData) {
			break
		}
	}
	return reportWork(rc, all, store.Dir, schedule.Shard, missing)
}

// reportWork says what is done and what is left, after err ended the work. Failures in other shards
// do not fail this command.
func reportWork(rc *runContext, all []*grid.Grid, dir string, shard experiment.Shard, err error) error {
	failed := 0
	for _, g := range all {
		r, e := g.Results(dir)
		if e != nil {
			return errors.Join(err, e)
		}
		failed += r.Status(shard).Failed
		s := r.Status(experiment.Shard{})
		rc.note("%s: %d of %d runs done%s", s.Name, s.Done, s.Runs, others(s))
	}
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return fmt.Errorf("%w; finished runs are kept and the others saved; %s", experiment.ErrInterrupted, goOn())
	case errors.Is(err, experiment.ErrTimeUp):
		return fmt.Errorf("%w, and runs are left; %s", experiment.ErrTimeUp, goOn())
	case err != nil:
		return fmt.Errorf("%w; finished runs are kept; %s", err, goOn())
	case failed > 0:
		return fmt.Errorf("%s failed: pcl grid status says why, pcl grid retry makes them again", plural.Of(failed, "run"))
	}
	return nil
}

// others says what is not done of a grid, or not well.
func others(s *grid.Status) (text string) {
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

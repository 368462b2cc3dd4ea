package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridPlanCmd writes manifests.
type gridPlanCmd struct {
	Grids []string `arg:"" name:"grid" help:"Built-in grids (pcl grid list) or TOML files."`
	gridDir
	Size string `default:"full" placeholder:"NAME" help:"Size of the grids (default ${default}). It becomes part of their names: table1-smoke."`
	tunedFlags
	computeFlags
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder by whose files cells are planned, if these are only a part of a data set; give workers the same one (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`

	Commands bool          `help:"Print one command for each shard instead of a summary."`
	Shards   int           `placeholder:"N" help:"Number of shards for --commands."`
	Each     time.Duration `placeholder:"TIME" help:"Make as many shards for --commands as take about this time each, such as 30m, by the measured times of finished cells."`
}

// computeFlags say how cells are computed.
type computeFlags struct {
	Backend string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Compute backend of all cells: ${enum}. auto is the one that this machine would take."`
	Threads number `default:"1" placeholder:"N" help:"Threads of the XLA CPU backend (default ${default}). Several processes (pcl grid run --jobs) gain more."`
	TF32    bool   `name:"tf32" help:"Let a GPU round the factors of products to 10 bits: faster, less exact."`
	Program string `placeholder:"ID" help:"Use the results of an earlier program, which an older plan or pcl grid status names. You vouch for it that this one computes the same."`
}

// tunedFlags ask for tuned values instead of the published ones.
type tunedFlags struct {
	Tuned     bool   `help:"Use the values that pcl tune found, instead of the published ones. It becomes part of the grids' names: table1-smoke-tuned."`
	TunedFrom string `type:"existingfile" placeholder:"FILE" help:"Use those of this file, which pcl tune wrote."`
}

// use gives grids tuned values, if the flags say so.
func (t tunedFlags) use(all []*grid.Grid) error {
	if !t.Tuned && t.TunedFrom == "" {
		return nil
	}
	read := grid.BuiltinTuned
	if t.TunedFrom != "" {
		read = func() (*grid.Tuned, error) { return grid.LoadTuned(t.TunedFrom) }
	}
	values, err := read()
	if err != nil {
		return err
	}
	for _, g := range all {
		if err := g.UseTuned(values); err != nil {
			return err
		}
	}
	return nil
}

func (c *gridPlanCmd) Run(rc *runContext) error {
	if err := c.check(); err != nil {
		return usageError{err}
	}
	var loaded []*grid.Grid
	for _, name := range c.Grids {
		g, err := grid.Load(name, c.Size)
		if err != nil {
			return usageError{err}
		}
		if slices.ContainsFunc(loaded, func(o *grid.Grid) bool { return o.Name == g.Name }) {
			return usageError{fmt.Errorf("two of the grids are called %s: the plan of one would replace that of the other", g.Name)}
		}
		g.DataDir = c.DataDir
		loaded = append(loaded, g)
	}
	if err := c.use(loaded); err != nil {
		return usageError{err}
	}
	how, err := c.compute(rc)
	if err != nil {
		return err
	}
	for _, g := range loaded {
		m, err := c.folder().Plan(g, grid.PlanOptions{Compute: how, Program: c.Program})
		if err != nil {
			return unplanned(err)
		}
		if err := c.tell(rc, m); err != nil {
			return err
		}
	}
	return nil
}

func (c *gridPlanCmd) check() error {
	switch {
	case !c.Commands && (c.Shards != 0 || c.Each != 0):
		return errors.New("--shards and --each say how many lines --commands prints")
	case c.Commands && (c.Shards > 0) == (c.Each > 0):
		return errors.New("--commands needs to know how many shards there are to be: --shards N, or --each TIME")
	case c.Shards < 0 || c.Each < 0:
		return errors.New("--shards and --each must be positive")
	}
	return nil
}

// compute returns how the cells are computed. If the backend is to be chosen, it is opened to find out which one works.
func (c computeFlags) compute(rc *runContext) (grid.Compute, error) {
	how := grid.Compute{Backend: c.Backend, Threads: int(c.Threads), TF32: c.TF32, Flags: backend.XLAFlags()}
	if c.Backend != backend.Auto {
		return how, nil
	}
	b, err := machineFlags{Backend: c.Backend, Threads: count(c.Threads), TF32: c.TF32}.open(rc)
	if err != nil {
		return how, err
	}
	how.Backend = b.Info.Name
	return how, b.Close()
}

// tell says what was planned, or prints the commands that make it.
func (c *gridPlanCmd) tell(rc *runContext, m *grid.Manifest) error {
	if m.Dropped > 0 {
		fmt.Fprintf(rc.stderr, "%s was planned in %s before, with %s that this plan does not have. Their results are kept, but no longer shown under this name.\n", m.Name, c.Dir, plural.Of(m.Dropped, "place"))
	}
	if m.Unused > 0 && m.Dropped == 0 {
		fmt.Fprintf(rc.stderr, "%s was planned in %s before, with other settings, another backend or another program: %s of that plan are kept, but no longer used under this name.\n", m.Name, c.Dir, plural.Of(m.Unused, "finished cell"))
	}
	if c.Commands {
		return c.commands(rc, m)
	}
	return c.planned(rc, m, dataFlag(c.DataDir))
}

// dataFlag is a data folder as a flag, for commands that the user is told.
func dataFlag(dir string) string {
	if dir == "" {
		return ""
	}
	return " --data-dir " + quotedName(dir)
}

// planned says what was planned, and how it is made, with more flags.
func (d gridDir) planned(rc *runContext, m *grid.Manifest, more string) error {
	s, err := d.folder().Status(m.Name)
	if err != nil {
		return err
	}
	shared := ""
	if len(m.Rows) > len(m.Cells) {
		shared = fmt.Sprintf(" for %d places of the table", len(m.Rows))
	}
	fmt.Fprintf(rc.stdout, "%s: %d cells%s, %d of them done; backend %s, program %s\n", m.Name, len(m.Cells), shared, s.Done, m.Compute.Backend, m.Program)
	if left := timeLeft(s); left != "" {
		fmt.Fprintf(rc.stdout, "  %s\n", left)
	}
	if s.Done == len(m.Cells) {
		return nil
	}
	_, err = fmt.Fprintf(rc.stdout, "  pcl grid run %s%s%s makes them\n", quotedName(m.Name), d.flag(), more)
	return err
}

// commands prints a line for each shard.
func (c *gridPlanCmd) commands(rc *runContext, m *grid.Manifest) error {
	n := c.Shards
	if n == 0 {
		var err error
		if n, err = c.folder().Shards(m, c.Each.Seconds()); err != nil {
			return err
		}
	}
	for i := range min(n, len(m.Cells)) {
		if _, err := fmt.Fprintf(rc.stdout, "pcl grid run %s --dir %s --shard %d/%d%s\n", quotedName(m.Name), quotedName(c.Dir), i, min(n, len(m.Cells)), dataFlag(c.DataDir)); err != nil {
			return err
		}
	}
	return nil
}

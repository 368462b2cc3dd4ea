package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridStatusCmd shows how far grids have come.
type gridStatusCmd struct {
	Names []string `arg:"" name:"grid" help:"Grids, as for pcl grid run."`
	gridFlags
	Watch bool `short:"w" help:"Repeat every two seconds until everything is done."`
	JSON  bool `name:"json" help:"Print a line of JSON for each grid."`
}

func (c *gridStatusCmd) Run(rc *runContext) error {
	all, err := c.results(c.Names)
	if err != nil {
		return err
	}
	for {
		left, err := c.show(rc, all)
		if err != nil || left == 0 || !c.Watch {
			return err
		}
		select {
		case <-rc.ctx.Done():
			return nil // that is how one ends watching
		case <-time.After(2 * time.Second):
		}
		for _, r := range all {
			if _, err := r.Grid.Results(c.Dir); err != nil {
				return err
			}
		}
	}
}

// show prints the status of all grids, and returns how many runs are left.
func (c *gridStatusCmd) show(rc *runContext, all []*grid.Results) (left int, err error) {
	var out strings.Builder
	if c.Watch && !c.JSON && terminal.Is(rc.stdout) {
		out.WriteString("\x1b[H\x1b[2J") // from the top of an empty screen
	}
	for _, r := range all {
		s := r.Status(experiment.Shard{})
		left += s.Left
		if c.JSON {
			if err := json.NewEncoder(&out).Encode(s); err != nil {
				return 0, err
			}
		} else {
			printStatus(&out, s)
		}
	}
	if _, err := io.WriteString(rc.stdout, out.String()); err != nil {
		return 0, err
	}
	return left, nil
}

func printStatus(out io.Writer, s *grid.Status) {
	fmt.Fprintf(out, "%s: %s\n", s.Name, s.Title)
	fmt.Fprintf(out, "  %d of %d runs done, %d running, %d begun, %d not begun, %d failed\n", s.Done, s.Runs, s.Running,
		s.Saved, s.Untouched, s.Failed)
	if s.Diverged > 0 {
		fmt.Fprintf(out, "  %d of those done diverged: their networks learnt nothing any more\n", s.Diverged)
	}
	for _, w := range s.Workers {
		fmt.Fprintf(out, "  %s: %s\n", printable.Text(w.Process), printable.Text(w.Run))
	}
	for _, f := range s.Failures {
		fmt.Fprintf(out, "  Failed: %s (%s): %s\n", f.Run, printable.Text(f.Place), printable.Text(f.Reason))
	}
}

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridStatusCmd shows how far grids have come.
type gridStatusCmd struct {
	Names []string `arg:"" optional:"" name:"name" help:"Planned grids (default: all)."`
	gridDir
	Watch bool          `short:"w" help:"Show it again every few seconds, until everything is done."`
	Every time.Duration `default:"2s" placeholder:"TIME" help:"Time between two looks of --watch (default ${default})."`
	JSON  bool          `name:"json" help:"Print a line of JSON for each grid."`
}

func (c *gridStatusCmd) Run(rc *runContext) error {
	if c.Every < 100*time.Millisecond {
		return usageError{fmt.Errorf("--every %v is too often: want 100 ms or more", c.Every)}
	}
	names, err := c.named(c.Names)
	if err != nil {
		return err
	}
	var all []*grid.Watcher
	for _, name := range names {
		w, err := c.folder().Watch(name)
		if err != nil {
			return unplanned(err)
		}
		all = append(all, w)
	}
	for {
		left, err := c.show(rc, all)
		if err != nil || !c.Watch || left == 0 {
			return err
		}
		select {
		case <-rc.ctx.Done():
			return nil // that is how one ends watching
		case <-time.After(c.Every):
		}
	}
}

// show prints the status of all grids, and returns how many cells are left.
func (c *gridStatusCmd) show(rc *runContext, all []*grid.Watcher) (left int, err error) {
	var out strings.Builder
	if c.Watch && !c.JSON && terminal.Is(rc.stdout) {
		out.WriteString("\x1b[H\x1b[2J") // from the top of an empty screen
	}
	for _, w := range all {
		s, err := w.Status()
		if err != nil {
			return 0, err
		}
		left += s.Left
		if !c.JSON {
			printStatus(&out, s)
		} else if err := json.NewEncoder(&out).Encode(s); err != nil {
			return 0, err
		}
	}
	_, err = io.WriteString(rc.stdout, out.String())
	return left, err
}

// printStatus prints the status of a grid in lines.
func printStatus(out io.Writer, s *grid.Status) {
	fmt.Fprintf(out, "%s: %s\n", s.Name, s.Title)
	fmt.Fprintf(out, "  %d of %d cells done, %d running, %d begun, %d not begun, %d failed\n", s.Done, s.Cells, s.Running, s.Saved, s.Untouched, s.Failed)
	if s.Diverged > 0 {
		fmt.Fprintf(out, "  %d of those done diverged: their networks learnt nothing any more\n", s.Diverged)
	}
	if left := timeLeft(s); left != "" {
		fmt.Fprintf(out, "  %s\n", left)
	}
	for _, w := range s.Workers {
		step := ""
		if w.Holder.Steps > 0 {
			step = fmt.Sprintf(", step %d of %d", w.Holder.Step, w.Holder.Steps)
		}
		fmt.Fprintf(out, "  %s: %s%s\n", printable.Text(w.Holder.String()), w.Cell.Name(), step)
	}
	for _, f := range s.Failures {
		fmt.Fprintf(out, "  Failed: %s (%s): %s\n", f.Cell.ID, printable.Text(f.Place), printable.Text(f.Reason))
	}
	for _, n := range s.Notes {
		fmt.Fprintf(out, "  %s\n", printable.Text(n))
	}
}

// timeLeft says how much work is left, by the measured times.
func timeLeft(s *grid.Status) string {
	if s.Left == 0 || s.Unmeasured == s.Left {
		return ""
	}
	text := fmt.Sprintf("About %s of work left for one process", rough(s.SecondsLeft))
	if eta := s.ETA(); eta > 0 {
		text = fmt.Sprintf("About %s left with %s", rough(eta.Seconds()), plural.Of(len(s.Workers), "worker"))
	}
	if s.Unmeasured > 0 {
		text += fmt.Sprintf(", without %s of a kind that was never measured", plural.Of(s.Unmeasured, "cell"))
	}
	return text
}

// rough is a time in words that claim no more than is known.
func rough(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 2*time.Minute:
		return d.Round(time.Second).String()
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.0f hours", math.Round(d.Hours()))
}

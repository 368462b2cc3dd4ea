package grid

import (
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Results holds the results of a grid's finished runs.
type Results struct {
	*Grid
	dir    string
	states map[string]experiment.State // by the ID of the run
}

// Results reads the folders of the grid's runs below dir. When it has read them before, it only
// looks again at the runs that were not finished, and returns what it did then, brought up to date:
// it is for one goroutine.
func (g *Grid) Results(dir string) (*Results, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if g.found == nil || g.found.dir != dir {
		g.found = &Results{Grid: g, dir: dir, states: map[string]experiment.State{}}
	}
	return g.found, g.found.refresh()
}

func (r *Results) refresh() error {
	for _, c := range r.Runs {
		id := c.ID()
		if r.states[id].Run != nil {
			continue
		}
		s, err := experiment.Inspect(filepath.Join(r.dir, c.Folder()), c.Config())
		if err != nil {
			return err
		}
		r.states[id] = s
	}
	return nil
}

// Table returns the rows of the grid with their results. Rows without a result say whether they
// failed.
func (r *Results) Table() (out []*rows.Row) {
	for _, planned := range r.Rows {
		row, state := *planned, r.states[planned.Cell]
		switch run := state.Run; {
		case run != nil:
			row.Finish(run)
			row.Program = run.Measured.Program
		case state.Failed != "":
			row.State, row.Reason, row.Program = rows.Failed, state.Failed, state.Program
		default:
			row.Program = state.Program
		}
		out = append(out, &row)
	}
	return out
}

// Folders returns the folders of the runs that are finished.
func (r *Results) Folders() (dirs []string) {
	for _, c := range r.Runs {
		if r.states[c.ID()].Run != nil {
			dirs = append(dirs, filepath.Join(r.dir, c.Folder()))
		}
	}
	return dirs
}

// Status is the progress of a grid.
type Status struct {
	Name, Title string
	Runs        int // the sum of the next five
	Done        int
	Failed      int
	Running     int
	Saved       int // begun and left, to be continued
	Untouched   int

	Diverged int // of those that are done
	Left     int // not done, and not failed
	Workers  []working
	Failures []failure
}

// working is a run with the process that is making it.
type working struct{ Run, Process string }

// failure is a run that could not be made.
type failure struct {
	Run    string // its folder
	Place  string // the first row of the grid that it is for, with the grid's names
	Reason string
}

// Status returns the progress of a shard.
func (r *Results) Status(shard experiment.Shard) *Status {
	s := &Status{Name: r.Name, Title: r.Title, Workers: []working{}, Failures: []failure{}} // not null in JSON
	for _, c := range r.Runs {
		if !shard.Has(c.Config()) {
			continue
		}
		s.Runs++
		switch now := r.states[c.ID()]; {
		case now.Run != nil:
			s.Done++
			if now.Run.DivergedAt != nil {
				s.Diverged++
			}
		case now.Holder != "":
			s.Running++
			s.Workers = append(s.Workers, working{r.place(c.Config()), now.Holder})
		case now.Failed != "":
			s.Failed++
			s.Failures = append(s.Failures, failure{c.Folder(), r.place(c.Config()), now.Failed})
		case now.Step > 0:
			s.Saved++
		default:
			s.Untouched++
		}
	}
	s.Left = s.Running + s.Saved + s.Untouched
	return s
}

package grid

import (
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Planned returns the grid that a manifest of some name was planned from: a built-in one or, if file is not empty, that
// of a TOML file. values are used if the name says that it had tuned values; nil stands for those that come with
// this package.
func Planned(name, file string, values *Tuned) (*Grid, error) {
	plain, isTuned := strings.CutSuffix(name, rows.TunedMark)
	g, err := sized(plain, file)
	if err != nil || !isTuned {
		return g, err
	}
	if values == nil {
		if values, err = BuiltinTuned(); err != nil {
			return nil, err
		}
	}
	return g, g.UseTuned(values)
}

// sized returns the grid and size that have a name such as "table1-smoke".
func sized(name, file string) (*Grid, error) {
	among := []string{file}
	if file == "" {
		among = append(Builtin(), BuiltinTuning)
	}
	for _, n := range among {
		all, err := Sizes(n)
		if err != nil {
			return nil, err
		}
		for _, size := range all {
			if gridName(n, size) == name {
				return gridOrCandidates(n, size)
			}
		}
	}
	if file == "" {
		return nil, fmt.Errorf("the grid %s does not come with this program: say which TOML file it was planned from", name)
	}
	return nil, fmt.Errorf("the grid %s was not planned from %s, which gives %s-… with its sizes", name, file, strings.TrimSuffix(gridName(file, ""), "-"))
}

// gridOrCandidates reads a grid, or the candidates of a tuning.
func gridOrCandidates(name, size string) (*Grid, error) {
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	if _, tuning := text[tuneKey]; !tuning {
		return Load(name, size)
	}
	t, err := LoadTuning(name, size)
	if err != nil {
		return nil, err
	}
	return t.Grid, nil
}

// ConfigOf returns the configuration of the run behind a row of exported results. It is an error if the grid has no such
// row, or another run in its place.
func (g *Grid) ConfigOf(r *rows.Row) (experiment.Config, error) {
	all, configs, err := g.expand()
	if err != nil {
		return experiment.Config{}, err
	}
	for i, row := range all {
		if !isPlace(row, r) {
			continue
		}
		if id := configs[i].ID(); id != r.Run {
			return configs[i], fmt.Errorf("the grid %s has another run there now: its configuration is %s, and that of the result %s, which the program %s made", g.Name, id, r.Run, r.Program)
		}
		return configs[i], nil
	}
	return experiment.Config{}, fmt.Errorf("the grid %s has no %s on %s, %s-incremental, label set %d, timeline %d, seed %d; the program %s made it", g.Name, r.Line(), r.DataSet, r.Increment, r.LabelSet, r.Timeline, r.Seed, r.Program)
}

// isPlace says whether a row of a grid is that of exported results.
func isPlace(row Row, r *rows.Row) bool {
	if row.DataSet != r.DataSet || row.Method != r.Method || string(row.Increment) != r.Increment || len(row.Vary) != len(r.Vary) ||
		row.LabelSet != r.LabelSet || row.Timeline != r.Timeline || row.Seed != r.Seed {
		return false
	}
	for _, s := range r.Vary {
		if v, ok := row.Vary[s.Name]; !ok || valueText(v) != s.Value {
			return false
		}
	}
	return true
}

// Compared is a figure of a result beside that of another run of the same configuration.
type Compared struct {
	Name      string
	Then, Now string
}

// Compare returns the figures of a row of exported results beside those of a run, and whether all are equal to the
// bit.
func Compare(then *rows.Row, run *results.Run) (list []Compared, equal bool) {
	now := resultOf(run)
	list = []Compared{
		{"A", rows.Exact(then.A), rows.Exact(now.A)},
		{"F", rows.Exact(then.F), rows.Exact(now.F)},
		{"A_first", rows.Exact(then.AFirst), rows.Exact(now.AFirst)},
		{"steps", fmt.Sprint(then.Steps), fmt.Sprint(now.Steps)},
		{"diverged at", then.Diverged, now.Diverged},
		{"model (SHA-256)", then.Model, now.Model},
	}
	equal = true
	for _, c := range list {
		equal = equal && c.Then == c.Now
	}
	return list, equal
}

// Reasons returns in sentences why a run may differ from a row of exported results: each circumstance that differs and
// can change a result. program is what makes the run now.
func Reasons(then *rows.Row, run *results.Run, program string) (list []string) {
	m := run.Measured
	for _, c := range []struct{ what, then, now string }{
		{"program", then.Program, program},
		{"version", then.Version + " (" + then.Commit + ")", m.Version + " (" + m.Commit + ")"},
		{"backend", then.Backend, m.Backend},
		{"device", then.Device, m.Device},
		{"number of threads", fmt.Sprint(then.Threads), fmt.Sprint(m.Threads)},
	} {
		if c.then != c.now {
			list = append(list, fmt.Sprintf("The %s was %s, and is %s now.", c.what, c.then, c.now))
		}
	}
	return list
}

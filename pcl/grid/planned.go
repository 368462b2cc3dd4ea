package grid

import (
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
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
		return nil, fmt.Errorf("the grid %s does not come with this program: say which TOML file it was planned from (--grid FILE.toml)", name)
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
		whole := configs[i] // results of older programs do not say that their data were a part of a set
		whole.DataSHA256 = ""
		if id := configs[i].ID(); id != r.Run && whole.ID() != r.Run {
			return configs[i], fmt.Errorf("the grid %s has another run there now, or the files of its data set are others: its configuration is %s, and that of the result %s, which the program %s made", g.Name, id, r.Run, r.Program)
		}
		return configs[i], nil
	}
	return experiment.Config{}, fmt.Errorf("the grid %s has no %s on %s, %s-incremental, label set %d, timeline %d, seed %d; the program %s made it", g.Name, r.Line(), r.Dataset, r.Increment, r.LabelSet, r.Timeline, r.Seed, r.Program)
}

// isPlace says whether a row of a grid is that of exported results.
func isPlace(row Row, r *rows.Row) bool {
	if row.Dataset != r.Dataset || row.Method != r.Method || string(row.Increment) != r.Increment || len(row.Vary) != len(r.Vary) ||
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

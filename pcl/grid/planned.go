package grid

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Load reads a grid, or the candidates of a tuning. name is the path of a TOML file, the name of a
// [Builtin] grid, or a name that its results have, such as table1-smoke-tuned. An empty size stands
// for the size in the name, or else "full". Nil values stand for the published values or, if the
// name ends in -tuned, for the tuned values that come with this package.
func Load(name, size string, values *Tuned) (*Grid, error) {
	plain, isTuned := strings.CutSuffix(name, rows.TunedMark)
	switch of, own := cutSize(plain); {
	case of == "":
		plain, isTuned = name, false
	case size != "" && size != own:
		return nil, fmt.Errorf("the grid %s has the size %s, not %s", name, own, size)
	default:
		plain, size = of, own
	}
	g, err := load(plain, cmp.Or(size, full))
	if err == nil && isTuned && values == nil {
		values, err = LoadTuned("")
	}
	if err != nil || values == nil {
		return g, err
	}
	return g, g.useTuned(values)
}

// IsName reports whether [Load] takes a text as the name of a TOML file or of a built-in grid.
func IsName(name string) bool {
	of, size := cutSize(strings.TrimSuffix(name, rows.TunedMark))
	if of == "" {
		return strings.HasSuffix(name, ".toml") || slices.Contains(Builtin(), name)
	}
	text, err := read(of)
	return err == nil && slices.Contains(sizes(text), size)
}

// Named returns the grid whose results have the name: a built-in grid or, if file is not empty,
// that of a TOML file. values are used if the name ends in -tuned; nil stands for the values that
// come with this package.
func Named(name, file string, values *Tuned) (*Grid, error) {
	plain, isTuned := strings.CutSuffix(name, rows.TunedMark)
	if !isTuned {
		values = nil
	}
	if file == "" {
		if of, _ := cutSize(plain); of == "" {
			return nil, fmt.Errorf("the grid %s does not come with this program: say which TOML file it is from (--grid "+
				"FILE.toml)", name)
		}
		return Load(name, "", values)
	}
	size, ok := strings.CutPrefix(plain, gridName(file, ""))
	if !ok {
		return nil, fmt.Errorf("the grid %s is not from %s, which gives %s… with its sizes", name, file, gridName(file, ""))
	}
	var err error
	if isTuned && values == nil {
		if values, err = LoadTuned(""); err != nil {
			return nil, err
		}
	}
	return Load(file, size, values)
}

// ConfigOf returns the configuration of the run behind a row of exported results. It returns an
// error if the grid does not have the row, or has another run there.
func (g *Grid) ConfigOf(r *rows.Row) (experiment.Checked, error) {
	all, configs, err := g.expand()
	if err != nil {
		return experiment.Checked{}, err
	}
	for i, row := range all {
		if row.Place() != r.Place() {
			continue
		}
		whole := configs[i].Config() // results of older programs do not say that their data were a part of a set
		whole.DataSHA256 = ""
		if id := row.Cell; id != r.Run.ID && whole.ID() != r.Run.ID {
			return configs[i], fmt.Errorf("the grid %s has another run there now, or the files of its data set "+
				"or of its rule in Python are others: its configuration is %s, and that of the result %s, which the program "+
				"%s made", g.Name, id, r.Run.ID, r.Program)
		}
		return configs[i], nil
	}
	return experiment.Checked{}, fmt.Errorf("the grid %s has no %s; the program %s made it", g.Name, r.Place(), r.Program)
}

package grid

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// full is the size of a grid as its file describes it. Other sizes change some of its keys; see
// [Grid].
const full = "full"

// Grid describes a set of experiments. It is read from a TOML file; docs/grid.md explains the keys.
type Grid struct {
	Name  string // of the file and the size, e.g. "table1-smoke"
	Size  string
	Sizes []string // that the file has
	Title string
	Paper string // which of the paper's tables or figures this is, if it is one

	// The rows of the grid have every combination of the following values. Methods and Datasets are
	// names of entries in Method and Dataset.
	Datasets   []string
	Methods    []string
	Increments []string
	LabelSets  []uint64
	Timelines  []uint64
	Seeds      []uint64

	// Tables of settings, with the keys of [experiment.Config]. The settings of Set apply to all
	// runs. An entry of Dataset or Method applies to the runs that it names, and so takes
	// precedence; of the two, Method does.
	Set     table
	Dataset map[string]table
	Method  map[string]table
	// Vary has a list of values instead of each setting.
	Vary table

	DataDir string // folder of the data sets; see datasets.Options

	// [Grid.Expand] fills these.
	Rows []*rows.Row          // without results; Cell is the ID of the run
	Runs []experiment.Checked // the run of each row, once if rows share it, in the order in which one process makes them

	dir    string   // of the file, to which the paths in it are relative
	tuned  *Tuned   // values over those of Method; nil for the published ones
	tuning *tuning  // of which the methods are candidates; nil for most grids
	found  *Results // that were read last
}

// table is a table of a TOML file.
type table = map[string]any

// load reads a grid in one of its sizes, or the candidates of a tuning.
func load(name, size string) (*Grid, error) {
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	if _, tuning := text[tuneKey]; tuning {
		return tuningOf(text, name, size)
	}
	return named(text, name, size)
}

// named returns the grid that the text of a file is, in one of its sizes.
func named(text table, name, size string) (*Grid, error) {
	if err := notBuiltin(name); err != nil {
		return nil, err
	}
	g, err := resize(text, size)
	if err != nil {
		return nil, fmt.Errorf("grid %s: %w", name, err)
	}
	g.Name = gridName(name, size)
	g.Size, g.Sizes, g.dir = size, sizes(text), filepath.Dir(name)
	if err := g.validate(); err != nil {
		return nil, fmt.Errorf("grid %s, size %s: %w", name, size, err)
	}
	return g, nil
}

// notBuiltin returns an error if a file has the name of a grid that comes with this package, but
// not its text: the results of both would be called the same.
func notBuiltin(name string) error {
	if !strings.HasSuffix(name, ".toml") {
		return nil
	}
	base := filepath.Base(name)
	builtin, err := grids.Files.ReadFile(base)
	if err != nil {
		return nil // no built-in grid is called so
	}
	if own, err := regular.ReadFile(name); err != nil || bytes.Equal(own, builtin) {
		return err
	}
	return fmt.Errorf("%s differs from the built-in grid of that name, with whose results its own would be confused: "+
		"give the file another name", name)
}

// gridName is what a grid is called in one of its sizes: "table1-smoke".
func gridName(name, size string) string {
	return strings.TrimSuffix(filepath.Base(name), ".toml") + "-" + size
}

// oneLine says whether a text has neither line breaks nor what cannot be printed.
func oneLine(text string) bool {
	return printable.Text(text) == text && !strings.ContainsAny(text, "\n\t")
}

// Builtin returns the names of the grids that come with this package, and at last that of the
// tuning.
func Builtin() []string {
	files, err := fs.Glob(grids.Files, "*.toml")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	var names []string
	for _, f := range files {
		if name := strings.TrimSuffix(f, ".toml"); name != builtinTuning && name != builtinTuned {
			names = append(names, name)
		}
	}
	return append(names, builtinTuning)
}

func sizes(text table) []string {
	own, _ := text[sizeKey].(table)
	names := slices.Collect(maps.Keys(own))
	if !slices.Contains(names, full) {
		names = append(names, full)
	}
	slices.Sort(names)
	return names
}

// read returns the text of a grid, merged with those that it extends.
func read(name string) (table, error) { return readFrom(name, "", nil) }

// readFrom reads a grid that the file by names. before are the grids that led to it.
func readFrom(name, by string, before []string) (table, error) {
	data, full, err := open(name, by)
	if err != nil {
		return nil, err
	}
	if slices.Contains(before, full) {
		return nil, fmt.Errorf("grid %s extends itself, by way of %s", full, strings.Join(before, ", "))
	}
	text, err := parseTable(data, full)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(full, ".toml") {
		if err := resolve(text, filepath.Dir(full)); err != nil {
			return nil, err
		}
	}
	extended, given := text["extends"]
	if !given {
		return text, nil
	}
	base, isText := extended.(string)
	if !isText {
		return nil, fmt.Errorf("grid %s: extends is not the name of a grid or file", full)
	}
	delete(text, "extends")
	under, err := readFrom(base, full, append(before, full))
	if err != nil {
		return nil, err
	}
	if _, tuning := text[tuneKey]; tuning { // which has sizes of its own: those of a grid have the data of tables
		delete(under, sizeKey)
	}
	return merged(under, text), nil
}

// resolve makes the paths of a file absolute, because the file that extends it may be in another
// folder. Paths that are varied appear in tables, and so stay as they are written: they are
// relative to the file that is run.
func resolve(text table, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var walk func(t table)
	walk = func(t table) {
		for key, v := range t {
			switch v := v.(type) {
			case table:
				walk(v)
			case string:
				if (key == "scenario" || key == "init") && v != "" && !filepath.IsAbs(v) {
					t[key] = filepath.Join(dir, v)
				}
			}
		}
	}
	walk(text)
	return nil
}

// sizeKey is the table of sizes.
const sizeKey = "size"

func parseTable(data []byte, full string) (table, error) {
	text := table{}
	if err := toml.Unmarshal(data, &text); err != nil {
		return nil, fmt.Errorf("grid %s: %w", full, err)
	}
	given, ok := text[sizeKey]
	if !ok {
		return text, nil
	}
	all, ok := given.(table)
	if !ok {
		return nil, fmt.Errorf("grid %s: size is %v: want a table for each size, such as [size.small]", full, given)
	}
	for name, changes := range all {
		if _, ok := changes.(table); !ok {
			return nil, fmt.Errorf("grid %s: size.%s is %v: want a table of what it changes", full, name, changes)
		}
	}
	return text, nil
}

// cutSize cuts the name that results have, such as table1-smoke, into those of a built-in grid and
// a size; of is empty if no grid has the name, or if it is that of a grid itself or of a file.
func cutSize(name string) (of, size string) {
	for _, b := range Builtin() {
		if b == name || strings.HasSuffix(name, ".toml") {
			return "", ""
		}
		if rest, ok := strings.CutPrefix(name, b+"-"); ok && len(b) > len(of) {
			of, size = b, rest
		}
	}
	return of, size
}

// open returns the text of a grid and the name that tells it from others. A name that ends in .toml
// is a path, relative to the file that names it; others are built in.
func open(name, by string) (data []byte, full string, err error) {
	if !strings.HasSuffix(name, ".toml") {
		data, err = grids.Files.ReadFile(name + ".toml")
		if err != nil {
			err = fmt.Errorf("there is no grid %q: the name of a file ends in .toml, and built in are %s", name,
				strings.Join(Builtin(), ", "))
		}
		return data, name, err
	}
	if by != "" && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(by), name)
	}
	data, err = regular.ReadFile(name)
	return data, name, err
}

// resize returns a grid in one of its sizes.
func resize(text table, size string) (*Grid, error) {
	if !slices.Contains(sizes(text), size) {
		return nil, fmt.Errorf("it has no size %q, but %s", size, strings.Join(sizes(text), ", "))
	}
	if all, ok := text[sizeKey].(table); ok {
		if changes, ok := all[size].(table); ok {
			text = merged(text, changes)
		}
	}
	return gridOf(without(text, sizeKey))
}

// validate returns an error that names the first thing that is wrong, apart from the settings of
// single runs.
func (g *Grid) validate() error {
	for _, list := range []error{
		chosen("datasets", g.Datasets), chosen("methods", g.Methods), chosen("increments", g.Increments),
		chosen("labelsets", g.LabelSets), chosen("timelines", g.Timelines), chosen("seeds", g.Seeds),
		defined("datasets", g.Datasets, "dataset", g.Dataset), defined("methods", g.Methods, "method", g.Method),
	} {
		if list != nil {
			return list
		}
	}
	for _, name := range slices.Concat([]string{g.Name, g.Title, g.Paper}, g.Datasets, g.Methods) {
		if !oneLine(name) {
			return fmt.Errorf("%q cannot stand in a table: leave out line breaks and what cannot be printed", name)
		}
	}
	_, err := axes("vary", g.Vary)
	return err
}

// chosen returns an error if a list is empty or names a value twice: the same run would count as
// two.
func chosen[T comparable](key string, values []T) error {
	if len(values) == 0 {
		return fmt.Errorf("%s lists nothing", key)
	}
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%s lists %v twice", key, v)
		}
	}
	return nil
}

// defined returns an error if a list names an entry that is not there.
func defined(key string, names []string, kind string, entries map[string]table) error {
	for _, n := range names {
		if _, ok := entries[n]; !ok {
			return fmt.Errorf("%s lists %q, but there is no [%s.%q]", key, n, kind, n)
		}
	}
	return nil
}

// axis is a setting that is varied.
type axis struct {
	path   string // e.g. "params.tau"
	values []any
}

var errAxis = errors.New("want a list of values for each setting, such as vary.memory.budget = [5, 10]")

// axes returns what is varied, sorted by name. under is the name of the table.
func axes(under string, vary table) ([]axis, error) {
	var out []axis
	for _, name := range slices.Sorted(maps.Keys(vary)) {
		path := under + "." + name
		switch v := vary[name].(type) {
		case table:
			inner, err := axes(path, v)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		case []any:
			var values []string // lists are not comparable
			for _, x := range v {
				values = append(values, valueText(x))
			}
			if err := chosen(path, values); err != nil {
				return nil, err
			}
			out = append(out, axis{strings.TrimPrefix(path, "vary."), v})
		default:
			return nil, fmt.Errorf("%s is %v: %w", path, v, errAxis)
		}
	}
	for i, a := range out { // "params.tau", in quotes, is a path too
		if slices.ContainsFunc(out[:i], func(other axis) bool { return other.path == a.path }) {
			return nil, fmt.Errorf("%s names %s twice", under, a.path)
		}
	}
	return out, nil
}

// short is the first line of a reason, for messages of one line.
func short(text string) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more {
		first += " …"
	}
	return first
}

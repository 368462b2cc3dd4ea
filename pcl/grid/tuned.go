package grid

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// builtinTuned is the file of the tuned values that come with this package.
const builtinTuned = "tuned"

// Tuned is the outcome of a tuning: for each method and increment the best candidate. It is kept in
// a TOML file.
type Tuned struct {
	Schema int    `toml:"schema"`
	Tuning string `toml:"tuning"` // name of its grid, e.g. "tune-full"
	// The program and machine that made the runs.
	Program string `toml:"program"`
	Backend string `toml:"backend"`
	Threads int    `toml:"threads,omitempty"`
	TF32    bool   `toml:"tf32,omitempty"`
	Budget  int    `toml:"budget"` // candidates for each method in each increment
	// The runs of each candidate.
	Datasets  []string                     `toml:"datasets"`
	LabelSets []uint64                     `toml:"labelsets"`
	Timelines []uint64                     `toml:"timelines"`
	Seeds     []uint64                     `toml:"seeds"`
	Methods   map[string]map[string]Winner `toml:"method,omitempty"`
	Winners   []Winner                     `toml:"-"` // in the order of the tuning, if just picked
}

// Winner is the best candidate for a method in one increment.
type Winner struct {
	Name      string `toml:"-"` // of the method in the tuning
	Increment string `toml:"-"`

	Method string `toml:"method"` // the registered one, e.g. "emgd-gmc"
	Values string `toml:"values"` // in words
	// A is the mean over the runs, in percent, and Published that of the published values; nil if
	// one of their runs failed or diverged.
	A         float64  `toml:"A"`
	Published *float64 `toml:"A_published,omitempty"`
	Set       table    `toml:"set,omitempty"` // the settings that differ from the published ones
}

const tunedSchema = 1

// tunedHead is written above the values.
const tunedHead = `# Written by pcl tune: for each method and increment the best of the candidates that were tried, by the mean of A over the
# runs. "values" names what differs from the published values. pcl grid run --tuned uses the settings in "set"; a factor
# in "times" multiplies what the data set has. docs/grid.md explains it.
`

// LoadTuned reads a file of tuned values. An empty path stands for the values that come with this
// package.
func LoadTuned(path string) (*Tuned, error) {
	read := os.ReadFile
	if path == "" {
		path, read = builtinTuned+".toml", grids.Files.ReadFile
	}
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return parseTuned(data, path)
}

func parseTuned(data []byte, path string) (*Tuned, error) {
	t := new(Tuned)
	meta, err := toml.Decode(string(data), t)
	if err == nil && t.Schema != tunedSchema {
		err = fmt.Errorf("it is not a file of tuned values of schema %d, as pcl tune writes it", tunedSchema)
	}
	for _, key := range meta.Undecoded() {
		if len(key) < 4 || key[3] != "set" { // settings are checked with the configurations
			err = cmp.Or(err, fmt.Errorf("unknown key %s", key))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Save writes the tuned values to a file.
func (t *Tuned) Save(path string) error {
	text, err := toml.Marshal(t)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append([]byte(tunedHead), text...))
}

// useTuned gives the methods of a grid their tuned values. The grid gets another name; the names of
// its rows stay.
func (g *Grid) useTuned(t *Tuned) error {
	for _, name := range g.Methods {
		for _, increment := range g.Increments {
			w, ok := t.Methods[name][increment]
			if !ok {
				return fmt.Errorf("grid %s: there are no tuned values for %s, %s-incremental: tune the method (list it in a copy "+
					"of grids/tune.toml, for pcl tune), or run a grid without it", g.Name, name, increment)
			}
			if own, _ := g.Method[name]["method"].(string); own != w.Method {
				return fmt.Errorf("grid %s: the tuned values for %s are those of the method %s, and here it is %s", g.Name, name,
					w.Method, own)
			}
		}
	}
	g.tuned = t
	g.Name += rows.TunedMark
	g.Title += ", with tuned values"
	return nil
}

// settings returns the tuned settings of a method; none for a nil Tuned.
func (t *Tuned) settings(name, increment string) table {
	if t == nil {
		return nil
	}
	return t.Methods[name][increment].Set
}

// valuesInWords says what a candidate changes.
func valuesInWords(name string, c candidate) string {
	if c.Name == name {
		return "published"
	}
	return strings.TrimPrefix(c.Name, name+", ")
}

package grid

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// builtinTuning is the search for parameters that comes with this package.
const builtinTuning = "tune"

// tuneKey is the table of a file that makes it a tuning.
const tuneKey = "tune"

// tuning is a search for the values with which each method does best, with the same number of
// candidates for every method.
type tuning struct {
	budget     int      // number of candidates for each method in each increment
	methods    []string // as in tables
	candidates map[string][]candidate
}

// candidate is one choice of values for a method. The first candidate of each method has the
// published ones.
type candidate struct {
	Name string
	// Set is the settings that differ from the published ones, with the keys of a grid's method.
	Set table
}

// tuneTable is what a tuning has in addition to a grid.
type tuneTable struct {
	Budget int64
	// Vary has a list of values for each setting, for all methods that have none in Method.
	Vary   table
	Method map[string]table
}

// LoadTuning reads a search for the values with which each method does best, in one of its sizes: a
// grid that has a method for each candidate. name is the path of a TOML file, of which docs/grid.md
// explains the keys, or "tune" for the tuning that comes with this package.
func LoadTuning(name, size string) (*Grid, error) {
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	return tuningOf(text, name, size)
}

// tuningOf returns the tuning that the text of a file is.
func tuningOf(text table, name, size string) (*Grid, error) {
	tune, err := tuneTableOf(text)
	if err != nil {
		return nil, fmt.Errorf("tuning %s: %w", name, err)
	}
	g, err := named(without(text, tuneKey), name, size)
	if err != nil {
		return nil, err
	}
	g.tuning = &tuning{int(tune.Budget), g.Methods, map[string][]candidate{}}
	if err := g.fill(tune); err != nil {
		return nil, fmt.Errorf("tuning %s: %w", name, err)
	}
	return g, nil
}

// tuneTableOf reads the table [tune].
func tuneTableOf(text table) (t tuneTable, err error) {
	all, ok := text[tuneKey].(table)
	if !ok {
		return t, fmt.Errorf("it has no table [%s]", tuneKey)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch key {
		case "budget":
			ok = is(&t.Budget, all[key])
		case "vary":
			ok = is(&t.Vary, all[key])
		case "method":
			ok = entries(&t.Method, all[key])
		default:
			return t, fmt.Errorf("unknown key %q", tuneKey+"."+key)
		}
		if !ok {
			return t, fmt.Errorf("%s.%s = %v is of the wrong type", tuneKey, key, all[key])
		}
	}
	if t.Budget < 1 {
		return t, fmt.Errorf("%s.budget, the number of candidates for each method, is %d", tuneKey, t.Budget)
	}
	return t, nil
}

// fill makes the candidates, and methods of the grid out of them.
func (g *Grid) fill(tune tuneTable) error {
	if len(g.Vary) > 0 {
		return fmt.Errorf("what is varied belongs in [%s.vary] and not in [vary]", tuneKey)
	}
	for name := range tune.Method {
		if _, ok := g.Method[name]; !ok {
			return fmt.Errorf("there is no [method.%q] for [%s.method.%q]", name, tuneKey, name)
		}
	}
	made := map[string]table{}
	g.Methods = nil
	for _, name := range g.tuning.methods {
		vary, ok := tune.Method[name]
		if !ok {
			vary = tune.Vary
		}
		list, err := g.candidates(name, vary)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		g.tuning.candidates[name] = list
		for _, c := range list {
			g.Methods = append(g.Methods, c.Name)
			made[c.Name] = merged(without(g.Method[name], paperKey), c.Set)
		}
	}
	g.Method = made
	return g.validate()
}

// candidates returns those for a method, the published one first.
func (g *Grid) candidates(name string, vary table) ([]candidate, error) {
	varied, err := axes("vary", vary)
	if err != nil {
		return nil, err
	}
	for i := range varied {
		if varied[i].values, err = g.publishedFirst(name, varied[i]); err != nil {
			return nil, err
		}
	}
	var list []candidate
	for _, values := range combinations(varied) {
		c := candidate{Name: name}
		for _, a := range varied {
			if v := values[a.path]; valueText(v) != valueText(a.values[0]) {
				c.Set = merged(c.Set, at(a.path, v))
				c.Name += ", " + inWords(a.path, v)
			}
		}
		list = append(list, c)
	}
	if len(list) != g.tuning.budget {
		return nil, fmt.Errorf("%d candidates, but the budget is %d for every method", len(list), g.tuning.budget)
	}
	return list, nil
}

// publishedFirst returns the values of an axis with the published one at the front.
func (g *Grid) publishedFirst(name string, a axis) ([]any, error) {
	published, err := g.published(name, a.path)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(a.values, func(v any) bool { return valueText(v) == valueText(published) })
	if i < 0 {
		return nil, fmt.Errorf("the published value of %s, %v, is not in the list %v", a.path, published, a.values)
	}
	return slices.Concat(a.values[i:i+1], a.values[:i], a.values[i+1:]), nil
}

// published returns the value that a setting has without tuning.
func (g *Grid) published(name, path string) (any, error) {
	entry := g.Method[name]
	if factor, isFactor := strings.CutPrefix(path, timesKey+"."); isFactor {
		own := leaves(entry)
		if v, given := own[path]; given {
			return v, nil
		}
		if _, given := own[factor]; given {
			return nil, fmt.Errorf("the method sets %s itself, of which %s would not be a factor of the data set's",
				factor, path)
		}
		return 1, nil
	}
	c, err := g.config(g.Datasets[0], name, g.Increments[0], nil)
	if err != nil {
		return nil, err
	}
	if param, ok := strings.CutPrefix(path, "params."); ok {
		return publishedParam(c.Config(), param)
	}
	if v, ok := params.Values(c.Config())[path]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("the configuration has no %s", path)
}

// publishedParam returns the value of a method's parameter in a configuration, or the default.
func publishedParam(c experiment.Config, name string) (any, error) {
	if v, given := c.Params[name]; given {
		return v, nil
	}
	d, err := method.Lookup(c.Method)
	if err != nil {
		return nil, err
	}
	for _, p := range d.Params {
		if p.Name == name {
			return p.Default, nil
		}
	}
	return nil, fmt.Errorf("the method %s has no parameter %q", c.Method, name)
}

// inWords says what a setting is changed to: "optimizer.lr × 2", "tau = 20".
func inWords(path string, value any) string {
	if factor, isFactor := strings.CutPrefix(path, timesKey+"."); isFactor {
		return fmt.Sprintf("%s × %v", strings.TrimPrefix(factor, "optimizer."), value)
	}
	return fmt.Sprintf("%s = %v", strings.TrimPrefix(path, "params."), value)
}

package grid

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// valueText is a varied value as text, in which 5.0 is 5.
func valueText(v any) string {
	if x, isFloat := v.(float64); isFloat && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatInt(int64(x), 10)
	}
	return fmt.Sprint(v)
}

// keys of a table of settings that are not the configuration's.
const (
	paperKey = "paper" // what the paper calls it
	timesKey = "times" // factors of numbers of the configuration
)

// expand returns the rows of a grid, without results, and the configuration of each. Runs that
// share their data and compiled programs follow one another.
func (g *Grid) expand() (all []*rows.Row, configs []experiment.Checked, err error) {
	varied, err := axes("vary", g.Vary)
	if err != nil {
		return nil, nil, err
	}
	sums := map[[2]string]string{} // checksums of the files of data sets, by what configurations say of these
	for _, dataset := range g.Datasets {
		for _, increment := range g.Increments {
			for _, method := range g.Methods {
				for _, vary := range combinations(varied) {
					row := rows.Row{
						Grid: g.Name, Title: g.Title, Paper: g.Paper, Size: g.Size, Dataset: dataset, Method: method,
						Increment:    increment,
						PaperDataset: paperName(g.Dataset[dataset]), PaperMethod: paperName(g.Method[method]), State: rows.Missing,
					}
					for _, name := range slices.Sorted(maps.Keys(vary)) {
						row.Vary = append(row.Vary, rows.Setting{Name: name, Value: valueText(vary[name])})
					}
					base, err := g.config(dataset, method, increment, vary)
					if err != nil {
						return nil, nil, fmt.Errorf("%s, %s: %w", dataset, row.Line(), err)
					}
					c := base.Config()
					said := [2]string{c.Dataset, c.DataSHA256}
					if _, known := sums[said]; !known {
						here, err := c.OnData(context.Background(), datasets.Options{Dir: g.DataDir})
						if err != nil {
							return nil, nil, err
						}
						sums[said] = here.DataSHA256
					}
					c.DataSHA256 = sums[said]
					if base, err = c.Check(); err != nil {
						return nil, nil, err
					}
					repeated, own, err := g.repeat(row, base)
					if err != nil {
						return nil, nil, err
					}
					all, configs = append(all, repeated...), append(configs, own...)
				}
			}
		}
	}
	return all, configs, nil
}

func paperName(t table) string {
	name, _ := t[paperKey].(string)
	return name
}

// repeat returns a row and its configuration for every label set, timeline and seed.
func (g *Grid) repeat(row rows.Row, c experiment.Checked) (all []*rows.Row, configs []experiment.Checked, err error) {
	if c.Config().Scenario != nil && len(g.LabelSets)*len(g.Timelines) > 1 {
		return nil, nil, fmt.Errorf("%s: a published scenario is one label set and one timeline, but the grid lists %d "+
			"and %d", row.Method, len(g.LabelSets), len(g.Timelines))
	}
	for _, labelset := range g.LabelSets {
		for _, timeline := range g.Timelines {
			for _, seed := range g.Seeds {
				run := c.WithSeeds(labelset, timeline, seed)
				config, own := run.Config(), row
				own.LabelSet, own.Timeline, own.Seed, own.Cell = config.LabelSet, config.Timeline, seed, run.ID()
				all, configs = append(all, &own), append(configs, run)
			}
		}
	}
	return all, configs, nil
}

// combinations returns every combination of the values of the axes. The last axis changes fastest.
func combinations(all []axis) []map[string]any {
	out := []map[string]any{nil}
	for _, a := range all {
		var next []map[string]any
		for _, before := range out {
			for _, v := range a.values {
				with := map[string]any{a.path: v}
				maps.Copy(with, before)
				next = append(next, with)
			}
		}
		out = next
	}
	return out
}

// config returns a configuration, apart from its label set, timeline and seed, and from the files
// of its data. vary has the values of what is varied, e.g. "params.tau": 5.
func (g *Grid) config(dataset, method, increment string, vary map[string]any) (experiment.Checked, error) {
	settings := merged(g.Set, g.Dataset[dataset], g.Method[method], g.tuned.settings(method, increment))
	for _, path := range slices.Sorted(maps.Keys(vary)) {
		settings = merged(settings, at(path, vary[path]))
	}
	if err := checkSettings(settings); err != nil {
		return experiment.Checked{}, err
	}
	if _, named := settings["dataset"]; !named {
		return experiment.Checked{}, fmt.Errorf("[dataset.%q] does not say which data set it is: dataset = \"…\"", dataset)
	}
	settings["increment"] = increment
	c, err := experiment.NewConfig(experiment.Layer{Values: without(settings, paperKey, timesKey), Dir: g.dir})
	if factors, ok := settings[timesKey].(table); ok && err == nil {
		c, err = scaled(c, factors)
	}
	if err != nil {
		return experiment.Checked{}, err
	}
	return c.Check()
}

// listed are the keys of a run whose values a grid lists: increments, labelsets, timelines, seeds.
var listed = []string{"increment", "labelset", "timeline", "seed"}

// checkSettings returns an error if settings name what the grid's lists say, or if a key of the
// grid has a value of the wrong type.
func checkSettings(settings table) error {
	for _, key := range listed {
		if _, given := settings[key]; given {
			return fmt.Errorf("%s is not a setting of a grid's runs: list its values in %ss", key, key)
		}
	}
	if v, given := settings[timesKey]; given {
		factors, ok := v.(table)
		if !ok {
			return fmt.Errorf("%s is %v: want a table of factors, such as times.optimizer.lr = 3", timesKey, v)
		}
		for _, key := range listed {
			if _, given := factors[key]; given {
				return fmt.Errorf("%s.%s: a grid lists the values of %s itself, in %ss", timesKey, key, key, key)
			}
		}
	}
	if v, given := settings[paperKey]; given {
		if _, ok := v.(string); !ok {
			return fmt.Errorf("%s is %v: want what the paper calls it", paperKey, v)
		}
	}
	return nil
}

// scaled multiplies numbers of a configuration. factors is a table such as {optimizer = {lr = 3}}.
func scaled(c experiment.Config, factors table) (experiment.Config, error) {
	own, products := params.Values(c), table{}
	for path, factor := range leaves(factors) {
		x, isNumber := number(own[path])
		f, isFactor := number(factor)
		if !isNumber || !isFactor {
			return c, fmt.Errorf("%s.%s = %v: want a factor of a number that the configuration has, not of %v", timesKey, path,
				factor, own[path])
		}
		products[path] = rounded(x * f)
	}
	if err := params.Set(&c, products); err != nil {
		return c, fmt.Errorf("%s: %w", timesKey, err)
	}
	return c, nil
}

// rounded drops the last digits, so that 0.003 · 0.3 is 0.0009 and not 0.0008999999999999999.
func rounded(x float64) float64 {
	near, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		return x
	}
	return near
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	return 0, false
}

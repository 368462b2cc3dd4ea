package experiment

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Layer is what a file, the command line or a grid says of a configuration.
type Layer struct {
	// Values have the names of the keys of a configuration file (docs/config.md). The values of a
	// table are a map, or have names such as "optimizer.lr". A value of any kind may be given as
	// text.
	Values map[string]any
	Dir    string // to which the files that the keys "scenario" and "init" name are relative
	From   string // what errors call it; may be empty
}

// ReadLayer reads a configuration file.
func ReadLayer(path string) (l Layer, err error) {
	l = Layer{Dir: filepath.Dir(path), From: path}
	text, err := regular.ReadFile(path)
	if err != nil {
		return Layer{}, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	if _, err := toml.Decode(string(text), &l.Values); err != nil {
		return Layer{}, err
	}
	return l, nil
}

// NewConfig returns the [DefaultConfig] of a data set with layers over it, of which the last counts
// most. The data set is the one that the last of them names, itself or by its scenario, or else
// "glyphs". Unknown keys, values out of range, and those that do nothing beside a scenario are
// errors. [Config.Check] checks values that depend on each other.
func NewConfig(layers ...Layer) (c Config, err error) {
	dataset, played := "glyphs", make([]*scenario.Scenario, len(layers))
	for i, l := range layers {
		if played[i], err = l.scenario(); err != nil {
			return Config{}, err
		}
		if played[i] != nil {
			dataset = cmp.Or(played[i].Dataset, dataset)
		}
		dataset = cmp.Or(l.text("dataset"), dataset)
	}
	c = DefaultConfig(dataset)
	for _, l := range layers {
		if text := l.text("features"); text != "" {
			c = c.OnFeatures(text)
		}
	}
	for i, l := range layers {
		if err := c.lay(l, played[i]); err != nil {
			return Config{}, err
		}
	}
	c.Dataset = dataset
	given := func(key string) bool {
		return slices.ContainsFunc(layers, func(l Layer) bool { return l.Values[key] != nil })
	}
	if given("tasks") && !given("min_classes") && !given("max_classes") && c.Scenario == nil &&
		datasets.OwnPath(dataset) != "" {
		c.recut(dataset)
	}
	return c, nil
}

func (l Layer) text(key string) string {
	s, _ := l.Values[key].(string)
	return s
}

func (l Layer) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(l.Dir, file)
}

func (l Layer) name() string { return cmp.Or(l.From, "config") }

// scenario reads the scenario that the layer names, if it does.
func (l Layer) scenario() (_ *scenario.Scenario, err error) {
	file := l.text("scenario")
	if file == "" {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", l.name(), err)
		}
	}()
	return scenario.Load(l.path(file))
}

// drawing are the keys that say how a scenario is drawn.
var drawing = []string{"labelset", "timeline", "kind", "tasks", "min_classes", "max_classes", "overlap", "duplicate"}

// lay puts a layer over a configuration. Of a network of another kind it has the defaults, not the
// sizes of the one before.
func (c *Config) lay(l Layer, played *scenario.Scenario) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", l.name(), err)
		}
	}()
	if played != nil {
		c.UseScenario(played)
	}
	if name := l.text("model"); name != "" && name != c.modelName() {
		c.setModel(name)
	}
	if err := params.Set(c, l.Values); err != nil {
		return err
	}
	for _, key := range drawing {
		_, given := l.Values[key]
		if given && c.Scenario != nil {
			return fmt.Errorf(
				"%s says how a scenario is drawn, and does nothing beside one that is played: leave it out",
				key)
		}
	}
	*c = c.withIncrement(c.Increment)
	if s := c.spec(); l.text("features") != "" && s.Weights != "" {
		s.Weights = l.path(s.Weights)
		c.Features = s.String()
	}
	if file := l.text("init"); file != "" {
		if err := c.begin(l.path(file)); err != nil {
			return err
		}
	}
	return nil
}

package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/internal/exactkeys"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// LoadConfig reads a configuration from a TOML file. What the file leaves out is as in the [DefaultConfig] of its
// data set, which is "glyphs" if the file names none. Unknown keys are errors.
func LoadConfig(path string) (Config, error) { return LoadConfigWith(path, nil) }

// LoadConfigWith is like [LoadConfig] with values that count instead of those of the file, by their keys, such as
// "optimizer.lr"; "init" and "scenario" are files, and "dataset" decides also about what the file leaves out. Without a
// path there is no file, but the defaults. A key of no field is a panic, as is a value of another type than the field's.
// Values are checked by [Config.Check] alone; one that would do nothing is an [IdleError].
func LoadConfigWith(path string, values map[string]any) (c Config, err error) {
	text := func(key string) string { s, _ := values[key].(string); return s }
	l := layer{
		given: func(key ...string) bool { _, ok := values[strings.Join(key, ".")]; return ok },
		model: text("model"), init: text("init"),
	}
	dataset := text("dataset")
	if file := text("scenario"); file != "" {
		if l.played, err = scenario.Load(file); err != nil {
			return c, err
		}
		dataset = cmp.Or(dataset, l.played.Dataset)
	}
	if path == "" {
		c = DefaultConfig(cmp.Or(dataset, "glyphs"))
	} else if c, err = readConfig(path, dataset); err != nil {
		return c, err
	}
	err = c.lay(l, func() error {
		for key, value := range values {
			if key != "init" && key != "scenario" {
				c.set(key, value)
			}
		}
		return nil
	})
	if err == nil && !l.given("edit", "eta") {
		err = c.idle(l.given, editing)
	}
	return c, err
}

// layer is what a file, or flags, say of a configuration beside values of fields.
type layer struct {
	given       func(key ...string) bool // whether they have a key
	model, init string
	played      *scenario.Scenario
}

// lay puts a layer on a configuration; over gives the fields their values. Of a network of another kind they have the
// defaults, not the sizes of the one before.
func (c *Config) lay(l layer, over func() error) error {
	if l.played != nil {
		c.Play(l.played)
	}
	if l.given("model") && cmp.Or(l.model, "mlp") != c.ModelName() {
		c.SetModel(l.model)
	}
	if err := cmp.Or(over(), c.idle(l.given, drawing)); err != nil {
		return err
	}
	*c = c.WithIncrement(c.Increment)
	if l.init == "" {
		return nil
	}
	c.Init = "" // of the layer below
	return c.UseWeights(l.init)
}

// set gives the field of a key another value.
func (c *Config) set(key string, value any) {
	field := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(key, ".") {
		f, ok := fieldOf(field.Type(), name)
		if !ok {
			panic("experiment: a configuration has no key " + key)
		}
		field = field.FieldByIndex(f.Index)
	}
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
}

// IdleError says that the value of a key would do nothing beside the others.
type IdleError struct{ Key, Why string }

func (e *IdleError) Error() string { return e.Key + " " + e.Why }

// dependent are keys whose values do nothing in some configurations.
type dependent struct {
	keys []string
	used func(Config) bool
	why  string // they do nothing where they are not used
}

var (
	drawing = dependent{
		[]string{"labelset", "timeline", "kind", "tasks", "min_classes", "max_classes", "overlap", "duplicate"},
		func(c Config) bool { return c.Scenario == nil },
		"is for scenarios that are drawn; beside a scenario that is played it would do nothing: leave it out",
	}
	editing = dependent{
		howToEdit(),
		func(c Config) bool { return c.Edit.On() },
		"says how the memory is edited, which is turned off: add a step size, such as --edit 0.003",
	}
)

// howToEdit are the keys of the declaration of edits but the step size.
func howToEdit() (keys []string) {
	for _, p := range params.Of(pcl.Edit{}) {
		if p.Name != "eta" {
			keys = append(keys, "edit."+p.Name)
		}
	}
	return keys
}

// idle returns an error if a key is given whose value does nothing.
func (c Config) idle(given func(key ...string) bool, d dependent) error {
	for _, key := range d.keys {
		if given(strings.Split(key, ".")...) && !d.used(c) {
			return &IdleError{key, d.why}
		}
	}
	return nil
}

func readConfig(path, dataset string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	c, err := parseConfig(string(data), filepath.Dir(path), dataset)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig is like [LoadConfig] for the text of a file. A relative path of a scenario file is relative to dir.
func ParseConfig(data []byte, dir string) (Config, error) { return parseConfig(string(data), dir, "") }

func parseConfig(text, dir, dataset string) (Config, error) {
	c, err := decodeConfig(text, dir, dataset)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	_, err = c.Check()
	return c, err
}

// decodeConfig reads the text of a file, on top of the defaults for what it names.
func decodeConfig(text, dir, dataset string) (Config, error) {
	var first struct {
		Dataset  string `toml:"dataset"`
		Scenario string `toml:"scenario"`
		Init     string `toml:"init"`
		Model    string `toml:"model"`
		LabelSet int64  `toml:"labelset"`
		Timeline int64  `toml:"timeline"`
		Seed     int64  `toml:"seed"`
	}
	meta, err := toml.Decode(text, &first)
	if err != nil {
		return Config{}, err
	}
	if first.LabelSet < 0 || first.Timeline < 0 || first.Seed < 0 {
		return Config{}, errors.New("seeds (labelset, timeline, seed) must not be negative")
	}
	l := layer{given: meta.IsDefined, model: first.Model}
	if first.Init != "" {
		l.init = beside(dir, first.Init)
	}
	if first.Scenario != "" {
		if l.played, err = scenario.Load(beside(dir, first.Scenario)); err != nil {
			return Config{}, err
		}
		first.Dataset = cmp.Or(first.Dataset, l.played.Dataset)
	}
	dataset = cmp.Or(dataset, first.Dataset, "glyphs")
	c := DefaultConfig(dataset)
	err = c.lay(l, func() error {
		file := struct {
			*Config
			Scenario string `toml:"scenario"`
			Init     string `toml:"init"`
		}{Config: &c}
		meta, err := toml.Decode(text, &file)
		if err != nil {
			return err
		}
		c.Dataset = dataset
		if unknown := meta.Undecoded(); len(unknown) > 0 {
			return fmt.Errorf("unknown key %q; known: %s", unknown[0].String(), strings.Join(keysBeside(unknown[0]), ", "))
		}
		return exactkeys.Check(meta, &file)
	})
	return c, err
}

// beside is a path as a file in dir means it.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/internal/exactkeys"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Config describes one experiment: everything that its result depends on, and nothing else. Two runs with equal
// Configs, on the same backend and machine, give exactly the same result, bit by bit; on a GPU, where XLA chooses its kernels
// by their time, that is not promised. People write a Config as TOML; result files hold it as JSON.
type Config struct {
	Method string         `json:"method" toml:"method"`
	Params map[string]any `json:"params,omitempty" toml:"params"`

	Dataset string `json:"dataset" toml:"dataset"`
	// DataSHA256 is the checksum of the files, if Dataset is files of your own (docs/data.md), or a part of the official
	// files of a set of the catalogue; see [Config.OnData].
	DataSHA256 string `json:"data_sha256,omitempty" toml:"data_sha256"`
	// TrainPerClass and TestPerClass are the largest numbers of training and of test samples of each class; 0 takes all.
	TrainPerClass int                `json:"train_per_class,omitempty" toml:"train_per_class"`
	TestPerClass  int                `json:"test_per_class,omitempty" toml:"test_per_class"`
	Increment     scenario.Increment `json:"increment" toml:"increment"`
	Kind          scenario.Kind      `json:"kind" toml:"kind"`
	Tasks         int                `json:"tasks" toml:"tasks"`
	MinClasses    int                `json:"min_classes" toml:"min_classes"`
	MaxClasses    int                `json:"max_classes" toml:"max_classes"`
	// Overlap is the number of classes that each task has in common with the one before it. Their training images are
	// divided between the tasks or, with Duplicate, given to both (docs/protocol.md §1.6).
	Overlap   int  `json:"overlap,omitempty" toml:"overlap"`
	Duplicate bool `json:"duplicate,omitempty" toml:"duplicate"`
	Epochs    int  `json:"epochs" toml:"epochs"`
	// Scenario, if set, is a published scenario to be used instead of one drawn from the values above and the two
	// seeds below. In TOML, scenario = "FILE" names its JSON file, relative to the TOML file.
	Scenario *scenario.Scenario `json:"scenario,omitempty" toml:"-"`
	LabelSet uint64             `json:"labelset" toml:"labelset"` // seed of the label sets
	Timeline uint64             `json:"timeline" toml:"timeline"` // seed of the timeline
	Seed     uint64             `json:"seed" toml:"seed"`         // of the run

	// Model is "mlp", for which empty stands too, "linear", "resnet18", or the name of a network that was registered
	// ([model.Register]). An MLP has the hidden layers Hidden, and the linear classifier none. A ResNet has Base
	// channels in its stem (0 stands for 64); Release selects the variant of the code that the paper's authors released
	// (docs/protocol.md §2.2). Other networks take from these what they like.
	Model   string `json:"model,omitempty" toml:"model"`
	Hidden  []int  `json:"hidden,omitempty" toml:"hidden"` // widths of the MLP's hidden layers
	Base    int    `json:"width,omitempty" toml:"width"`
	Release bool   `json:"release,omitempty" toml:"release"`
	// Init is the SHA-256 of a file with a trained network whose parameters before the classifier the run begins with
	// ([Config.UseWeights]). In TOML, init = "FILE" names the file, relative to the TOML file.
	Init     string `json:"init,omitempty" toml:"-"`
	InitFile string `json:"-" toml:"-"` // the file
	// Precision of the model's products: "float32", for which empty stands too, or "bfloat16" ([model.BFloat16]).
	Precision string `json:"precision,omitempty" toml:"precision"`

	Shared    pcl.SharedParams `json:"shared" toml:"shared"` // which parameters are shared
	Batch     int              `json:"batch" toml:"batch"`
	Optimizer optim.Config     `json:"optimizer" toml:"optimizer"`
	Memory    memory.Config    `json:"memory" toml:"memory"`
	// Edit turns memory editing on. ExtraUpdate is the control experiment for it: a second update in each step.
	Edit        pcl.Edit `json:"edit,omitzero" toml:"edit"`
	ExtraUpdate bool     `json:"extra_update,omitempty" toml:"extra_update"`
	// EvalEvery is the number of steps between evaluations; 0 evaluates only when a task ends, which is always done.
	EvalEvery int `json:"eval_every,omitempty" toml:"eval_every"`
}

// DefaultConfig returns the recommended method with the benchmark's settings for a data set (docs/protocol.md §1.1). CIFAR and Tiny-ImageNet
// have settings of their own; for data sets of small grey images they are those of PS-EMNIST. For other sets, which may
// be files of your own such as "folder:photos", they follow from the number of classes and the size of the samples
// (docs/data.md); for that it looks at the files.
func DefaultConfig(dataset string) Config {
	c := Config{
		Method: "emgd", Dataset: dataset,
		Increment: scenario.TaskIncremental, Kind: scenario.Parallel,
		Tasks: 5, MinClasses: 3, MaxClasses: 15, Epochs: 1, Seed: 1234,
		Hidden: []int{128, 64}, Shared: pcl.Shared, Batch: 128,
		Optimizer: optim.Config{Name: "adam", LR: 0.003},
		Memory:    memory.Config{Policy: memory.PerClass, Budget: 5},
	}
	switch dataset {
	case "mnist", "mnist-test80", "cifar-10":
		c.MinClasses, c.MaxClasses = 1, 3
		if dataset == "cifar-10" {
			c.Model, c.Hidden = "resnet18", nil
		}
	case "cifar-100":
		c.Tasks, c.Optimizer.LR, c.Memory.Budget = 20, 0.0004, 30
		c.Model, c.Hidden = "resnet18", nil
	case "tiny-imagenet", "tiny-imagenet-32":
		c.Tasks, c.MinClasses, c.MaxClasses = 20, 6, 20
		c.Optimizer.LR, c.Memory.Budget = 0.0005, 15
		c.Model, c.Hidden = "resnet18", nil
	case "glyphs":
		c.Batch = 32 // few images: smaller batches give each task enough steps to learn
	case "glyphs-tune", "emnist-byclass", "emnist-byclass-test80":
	default:
		c.suit(dataset)
	}
	return c
}

// LoadConfig reads a configuration from a TOML file. What the file leaves out is as in the [DefaultConfig] of its
// data set, which is "glyphs" if the file names none. Unknown keys are errors.
func LoadConfig(path string) (Config, error) { return LoadConfigOn(path, "") }

// LoadConfigOn is like [LoadConfig] for a run on the given data set: it counts instead of the one that the file names, if
// any, also for what the file leaves out. Empty stands for that of the file.
func LoadConfigOn(path, dataset string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	c, err := parseConfig(data, filepath.Dir(path), dataset)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig is like [LoadConfig] for the text of a file. A relative path of a scenario file is relative to dir.
func ParseConfig(data []byte, dir string) (Config, error) { return parseConfig(data, dir, "") }

func parseConfig(data []byte, dir, dataset string) (Config, error) {
	var first struct {
		Dataset  string `toml:"dataset"`
		Scenario string `toml:"scenario"`
		LabelSet int64  `toml:"labelset"`
		Timeline int64  `toml:"timeline"`
		Seed     int64  `toml:"seed"`
	}
	if _, err := toml.Decode(string(data), &first); err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	if first.LabelSet < 0 || first.Timeline < 0 || first.Seed < 0 {
		return Config{}, errors.New("config: seeds (labelset, timeline, seed) must not be negative")
	}
	var played *scenario.Scenario
	if first.Scenario != "" {
		if !filepath.IsAbs(first.Scenario) {
			first.Scenario = filepath.Join(dir, first.Scenario)
		}
		var err error
		if played, err = scenario.Load(first.Scenario); err != nil {
			return Config{}, fmt.Errorf("config: %w", err)
		}
		first.Dataset = cmp.Or(first.Dataset, played.Dataset)
	}
	dataset = cmp.Or(dataset, first.Dataset, "glyphs")
	plain := DefaultConfig(dataset)
	network := plain.ModelName()
	file := struct {
		*Config
		Scenario string `toml:"scenario"`
		Init     string `toml:"init"`
	}{Config: &plain}
	meta, err := toml.Decode(string(data), &file)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	if err := exactkeys.Check(meta, &file); err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	c := *file.Config
	c.Dataset = dataset
	if played != nil {
		for _, key := range drawing {
			if meta.IsDefined(key) {
				return Config{}, fmt.Errorf("config: %s is for scenarios that are drawn; beside a scenario that is played it would do nothing: leave it out", key)
			}
		}
		asked := c
		if c.Play(played); meta.IsDefined("increment") {
			c = c.WithIncrement(asked.Increment)
		}
		if meta.IsDefined("batch") { // which Validate then compares with the scenario's
			c.Batch = asked.Batch
		}
		if meta.IsDefined("epochs") {
			c.Epochs = asked.Epochs
		}
	}
	if c.ModelName() != network { // the sizes of the data set's default network are not this one's
		given := c
		c.SetModel(c.Model)
		if meta.IsDefined("hidden") {
			c.Hidden = given.Hidden
		}
		if meta.IsDefined("width") {
			c.Base = given.Base
		}
		c.Release = given.Release
	}
	if file.Init != "" {
		if !filepath.IsAbs(file.Init) {
			file.Init = filepath.Join(dir, file.Init)
		}
		if err := c.UseWeights(file.Init); err != nil {
			return Config{}, fmt.Errorf("config: %w", err)
		}
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Config{}, fmt.Errorf("config: unknown key %q; known: %s", unknown[0].String(), strings.Join(keysBeside(unknown[0]), ", "))
	}
	return c, c.Validate()
}

// SetModel changes the kind of network. The sizes are then the defaults of that kind.
func (c *Config) SetModel(name string) {
	c.Model, c.Hidden, c.Base, c.Release = name, nil, 0, false
	if c.ModelName() == "mlp" {
		c.Hidden = []int{128, 64}
	}
}

// drawing are the keys that only say how a scenario is drawn.
var drawing = []string{"labelset", "timeline", "kind", "tasks", "min_classes", "max_classes", "overlap", "duplicate"}

// Play makes the configuration use a scenario instead of a drawn one, and sets all fields that it determines, except
// the data set. Fields that only say how label sets are drawn become those of the [DefaultConfig].
func (c *Config) Play(s *scenario.Scenario) {
	plain := DefaultConfig(c.Dataset)
	c.MinClasses, c.MaxClasses, c.Overlap, c.Duplicate = plain.MinClasses, plain.MaxClasses, plain.Overlap, plain.Duplicate
	c.Scenario, c.Tasks, c.LabelSet, c.Timeline = s, len(s.Tasks), s.LabelSet, s.Timeline
	c.Increment, c.Kind = cmp.Or(s.Increment, c.Increment), cmp.Or(s.Kind, c.Kind)
	c.Batch, c.Epochs = cmp.Or(s.Batch, c.Batch), cmp.Or(s.Epochs, c.Epochs)
}

// WithIncrement returns the configuration with another increment, also of its scenario.
func (c Config) WithIncrement(increment scenario.Increment) Config {
	c.Increment = increment
	if c.Scenario != nil && c.Scenario.Increment != "" && c.Scenario.Increment != increment {
		other := *c.Scenario
		other.Increment = increment
		c.Scenario = &other
	}
	return c
}

// Validate returns an error that names the first thing that is wrong.
func (c Config) Validate() error {
	switch {
	case c.Increment.Validate() != nil:
		return fmt.Errorf("config: %w", c.Increment.Validate())
	case c.Batch < 1 || c.Batch > 1<<16:
		return fmt.Errorf("config: batch %d is outside 1…65536", c.Batch)
	case c.Epochs < 1 || c.Epochs > 1<<20:
		return fmt.Errorf("config: epochs %d is outside 1…1048576", c.Epochs)
	case c.Tasks < 1 || c.Tasks > 1<<16:
		return fmt.Errorf("config: tasks %d is outside 1…65536", c.Tasks)
	case c.TrainPerClass < 0:
		return fmt.Errorf("config: train_per_class %d is negative", c.TrainPerClass)
	case c.TestPerClass < 0:
		return fmt.Errorf("config: test_per_class %d is negative", c.TestPerClass)
	case c.EvalEvery < 0:
		return fmt.Errorf("config: eval_every %d is negative", c.EvalEvery)
	case !slices.Contains(model.Names(), c.ModelName()):
		return fmt.Errorf("config: model %q is none of %s", c.Model, strings.Join(model.Names(), ", "))
	case c.Precision != "" && c.Precision != "float32" && c.Precision != "bfloat16":
		return fmt.Errorf("config: precision %q is neither \"float32\" nor \"bfloat16\"", c.Precision)
	case c.ModelName() == "mlp" && len(c.Hidden) == 0 || len(c.Hidden) > 64:
		return fmt.Errorf("config: %d hidden layers; the MLP takes 1 to 64", len(c.Hidden))
	case slices.Contains([]string{"mlp", "linear"}, c.ModelName()) && (c.Base != 0 || c.Release):
		return errors.New("config: width and release belong to model = \"resnet18\"")
	case slices.Contains([]string{"resnet18", "linear"}, c.Model) && len(c.Hidden) != 0:
		return fmt.Errorf("config: hidden layers belong to model = \"mlp\"; a %s has none", c.Model)
	case c.Base < 0 || c.Base > 1<<12:
		return fmt.Errorf("config: width %d is outside 0…4096", c.Base)
	case c.Kind != scenario.Parallel && c.Kind != scenario.Serial && c.Kind != scenario.AllAtOnce:
		return fmt.Errorf("config: kind %q is none of %q, %q, %q", c.Kind, scenario.Parallel, scenario.Serial, scenario.AllAtOnce)
	case c.Edit.On() && c.Memory.Budget == 0:
		return errors.New("config: editing changes samples of the memory, of which memory.budget = 0 keeps none")
	case c.Overlap < 0 || c.Overlap > 0 && (c.MinClasses != c.MaxClasses || c.Overlap >= c.MinClasses):
		return fmt.Errorf("config: overlap %d; want a number of classes below min_classes = max_classes", c.Overlap)
	case c.Duplicate && c.Overlap == 0:
		return errors.New("config: duplicate belongs to tasks that overlap")
	case c.MinClasses < 1 || c.MaxClasses < c.MinClasses:
		return fmt.Errorf("config: tasks of %d to %d classes; want 1 ≤ min_classes ≤ max_classes", c.MinClasses, c.MaxClasses)
	}
	for _, h := range c.Hidden {
		if h < 1 || h > 1<<16 {
			return fmt.Errorf("config: a hidden layer of %d; want 1…65536", h)
		}
	}
	_, err := c.Optimizer.New()
	if err := errors.Join(c.Shared.Validate(), err, c.Edit.Validate()); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	for name, v := range c.Params {
		if x, ok := v.(float64); ok && (math.IsInf(x, 0) || math.IsNaN(x)) {
			return fmt.Errorf("config: parameter %s is %g, which a result file cannot hold; write it as text, \"%g\"", name, x, x)
		}
		if _, err := json.Marshal(v); err != nil {
			return fmt.Errorf("config: parameter %s is %v, which a result file cannot hold: %w", name, v, err)
		}
	}
	if c.InitFile != "" && c.Init == "" {
		return fmt.Errorf("config: InitFile is %s, and Init, its checksum, is missing: UseWeights sets both", c.InitFile)
	}
	m, err := method.New(c.Method, c.Params)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if m.Info().Direct && c.ExtraUpdate {
		return fmt.Errorf("config: extra_update repeats a step by its weights; %s gives a direction instead", c.Method)
	}
	if c.Scenario != nil {
		if err := errors.Join(c.Scenario.Validate(), c.asPlayed()); err != nil {
			return fmt.Errorf("config: %w", err)
		}
	}
	if err := c.Memory.Validate(); err != nil {
		return err
	}
	if _, err := json.Marshal(c); err != nil { // whatever the checks above may have missed
		return fmt.Errorf("config: a result file cannot hold it: %w", err)
	}
	return nil
}

// asPlayed returns an error if the configuration says something else than the scenario that it plays.
func (c Config) asPlayed() error {
	s := c.Scenario
	for _, v := range []struct {
		name      string
		own, want any
		open      bool // the scenario leaves it to the configuration
	}{
		{"increment", c.Increment, s.Increment, s.Increment == ""},
		{"kind", c.Kind, s.Kind, s.Kind == ""},
		{"tasks", c.Tasks, len(s.Tasks), false},
		{"batch", c.Batch, s.Batch, s.Batch == 0},
		{"epochs", c.Epochs, s.Epochs, s.Epochs == 0},
		{"labelset", c.LabelSet, s.LabelSet, false},
		{"timeline", c.Timeline, s.Timeline, false},
		{"overlap", c.Overlap, 0, false},
	} {
		if v.own != v.want && !v.open {
			return fmt.Errorf("%s is %v, and that of the scenario that is played %v", v.name, v.own, v.want)
		}
	}
	return nil
}

// ModelName returns the name of the network: Model, or "mlp" where that is empty.
func (c Config) ModelName() string { return cmp.Or(c.Model, "mlp") }

// MarshalJSON leaves out a model and a precision that are those of the default, so that they give a run no other ID.
func (c Config) MarshalJSON() ([]byte, error) {
	if c.Model == "mlp" {
		c.Model = ""
	}
	if c.Precision == "float32" {
		c.Precision = ""
	}
	type fields Config
	return json.Marshal(fields(c))
}

// ID identifies an experiment in file names. It is the beginning of the hash of its configuration.
func (c Config) ID() string {
	data, err := json.Marshal(c)
	if err != nil {
		return "invalid" // JSON cannot hold some value; Validate and Run refuse such a configuration
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))[:12]
}

package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/memory"
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

// SetModel changes the kind of network. The sizes are then the defaults of that kind.
func (c *Config) SetModel(name string) {
	c.Model, c.Hidden, c.Base, c.Release = name, nil, 0, false
	if c.ModelName() == "mlp" {
		c.Hidden = []int{128, 64}
	}
}

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
		return "invalid" // JSON cannot hold some value; Check refuses such a configuration
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))[:12]
}

package experiment

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Config describes one experiment: everything that its result depends on, and nothing else. Two
// runs with equal Configs, on the same backend and machine, give exactly the same result, bit by
// bit; on a GPU, where XLA chooses its kernels by their time, that is not promised. People write a
// Config as TOML, with the names in its tags (docs/config.md), which are also those of flags;
// result files hold it as JSON. The defaults of a data set are in [DefaultConfig].
//
// A field that [pcl.Options] has too means the same there, and is within the same bounds. Three
// defaults differ, which have to stay, since ids are hashes of all values: an experiment is
// task-incremental, takes batches of 128 and has the seed 1234, as the published ones
// (docs/protocol.md §1.1). A learner of streams of your own predicts among all classes, and streams
// are short. They are declared in both, since zero means zero here, and the order of the fields is
// that of the JSON behind the ids; a test holds the declarations equal.
type Config struct {
	Method string         `json:"method" param:"method,required" default:"emgd" doc:"rule, and rehearsal; pcl methods lists them"`
	Params map[string]any `json:"params,omitempty" param:"params" doc:"parameters of the method; pcl methods NAME lists them"`

	Dataset       string `json:"dataset" param:"dataset,required" default:"glyphs" flag:"dataset" doc:"image set; pcl data list has them all; files of your own: folder:PATH, npz:PATH, safetensors:PATH or csv:PATH (docs/data.md)"`
	DataSHA256    string `json:"data_sha256,omitempty" param:"data_sha256" doc:"checksum of your own files, or of a part of a set, written by the program"` // see [Config.OnData]
	TrainPerClass int    `json:"train_per_class,omitempty" param:"train_per_class" default:"0" range:"whole [0,2147483647]" doc:"largest number of training samples of each class; 0 takes all"`
	TestPerClass  int    `json:"test_per_class,omitempty" param:"test_per_class" default:"0" range:"whole [0,2147483647]" doc:"largest number of test samples of each class; 0 takes all"`
	// Features, if not empty, is read by [features.Parse].
	Features   string `json:"features,omitempty" param:"features" default:"" flag:"features" doc:"train on features of a pretrained network in place of pixels: efficientnet-lite0, also with values such as efficientnet-lite0:size=224 (docs/features.md)"`
	Augment    string `json:"augment,omitempty" param:"augment" default:"" flag:"augment" doc:"how pictures are changed at random before a step trains on them: flip (left and right), crop (moved by up to an eighth), or flip,crop"`
	Increment  string `json:"increment" param:"increment,required" default:"task" choices:"task,class" doc:"whether predictions choose among the classes of the sample's task, or among all"`
	Kind       string `json:"kind" param:"kind,required" default:"parallel" choices:"parallel,serial,all_at_once,joint" doc:"how the tasks follow one another; joint: the samples of all are one stream (docs/protocol.md §3.6)"`
	Tasks      int    `json:"tasks" param:"tasks,required" default:"5" range:"whole [1,65536]" flag:"tasks" doc:"number of tasks"`
	MinClasses int    `json:"min_classes" param:"min_classes,required" default:"3" range:"whole [1,inf)" doc:"fewest classes of a task"`
	MaxClasses int    `json:"max_classes" param:"max_classes,required" default:"15" range:"whole [1,inf)" doc:"most classes of a task"`
	Overlap    int    `json:"overlap,omitempty" param:"overlap" default:"0" range:"whole [0,inf)" doc:"classes that each task has in common with the one before it; needs min_classes = max_classes (docs/protocol.md §1.6)"`
	Duplicate  bool   `json:"duplicate,omitempty" param:"duplicate" default:"false" doc:"give the images of such classes to both tasks, instead of dividing them"`
	Epochs     int    `json:"epochs" param:"epochs,required" default:"1" range:"whole [1,1048576]" flag:"epochs" doc:"passes over each stream"`
	// Scenario, if set, is a published scenario to be used instead of one drawn from the values
	// above and the two seeds below.
	Scenario     *scenario.Scenario `json:"scenario,omitempty"`
	ScenarioFile string             `json:"-" param:"scenario" doc:"file with a scenario to play, instead of the keys from kind to duplicate and the next two (docs/data.md §5)"`
	LabelSet     uint64             `json:"labelset" param:"labelset,required" default:"0" flag:"labelset" doc:"seed of the label sets"`
	Timeline     uint64             `json:"timeline" param:"timeline,required" default:"0" flag:"timeline" doc:"seed of the timeline"`
	Seed         uint64             `json:"seed" param:"seed,required" default:"1234" doc:"seed of the run"`

	// Networks other than those named here take from the sizes what they like ([model.Register]).
	Model        string `json:"model,omitempty" param:"model" default:"mlp" flag:"model" doc:"the network: mlp, linear, resnet18, or one that the program has registered (docs/own.md)"`
	Hidden       []int  `json:"hidden,omitempty" param:"hidden,required" default:"128,64" range:"whole [1,65536]" doc:"widths of the MLP's hidden layers"`
	StemChannels int    `json:"width,omitempty" param:"width" default:"0" range:"whole [0,4096]" flag:"width" doc:"channels of the ResNet's stem; 0 stands for 64"`
	Release      bool   `json:"release,omitempty" param:"release" default:"false" doc:"use the ResNet of the released code, with biases and one more ReLU in each block (docs/protocol.md §2.2)"`
	Stem         string `json:"stem,omitempty" param:"stem" default:"small" choices:"small,imagenet" doc:"beginning of the ResNet: small, a 3×3 convolution and a 2×2 maximum, or imagenet, the published 7×7 one with a 3×3 maximum, which divides the sides by 4"`
	Init         string `json:"init,omitempty"` // SHA-256 of InitFile; the key init of a Layer sets both
	InitFile     string `json:"-" param:"init" doc:"safetensors file of a trained network to begin with, without its classifier (docs/weights.md)"`
	Precision    string `json:"precision,omitempty" param:"precision" default:"float32" choices:"float32,bfloat16" doc:"precision of the model's products"`

	Shared      string        `json:"shared" param:"shared,required" default:"shared" choices:"shared,backbone,all" doc:"which parameters are columns of J (docs/method.md §1.3)"`
	Batch       int           `json:"batch" param:"batch,required" default:"128" range:"whole [1,1048576]" flag:"batch" doc:"batch size of each stream"`
	Optimizer   optim.Config  `json:"optimizer" param:"optimizer"`
	Memory      memory.Config `json:"memory" param:"memory"`
	Edit        pcl.Edit      `json:"edit,omitzero" param:"edit"`
	ExtraUpdate bool          `json:"extra_update,omitempty" param:"extra_update" default:"false" doc:"make a second update in each step with the same weights, as the control experiment for editing (docs/method.md §3.4)"`
	// Beside changes nothing but how the result is read: see [results.Run.Beside].
	Beside    bool `json:"beside,omitempty" param:"beside" default:"false" doc:"show the run beside others, as what is possible: no test compares it, and it has no rank"`
	EvalEvery int  `json:"eval_every,omitempty" param:"eval_every" default:"0" range:"whole [0,2147483647]" doc:"steps between evaluations; 0 evaluates only when a task ends, which is always done"`
}

// DefaultConfig returns the recommended method with the benchmark's settings for a data set
// (docs/protocol.md §1.1). CIFAR and Tiny-ImageNet have settings of their own; for data sets of
// small grey images they are those of PS-EMNIST. For other sets, which may be files of your own
// such as "folder:photos", they follow from the number of classes and the size of the samples
// (docs/data.md); for that it looks at the files.
func DefaultConfig(dataset string) Config {
	c := Config{Dataset: dataset}
	params.FillRequired(&c)
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

// clone returns a copy that shares nothing that can be changed.
func (c Config) clone() Config {
	c.Params, c.Hidden = cloned(c.Params), slices.Clone(c.Hidden)
	if c.Scenario != nil {
		s := *c.Scenario
		s.Tasks = slices.Clone(s.Tasks)
		for i, t := range s.Tasks {
			t.Classes, t.Names, t.Parts = slices.Clone(t.Classes), slices.Clone(t.Names), slices.Clone(t.Parts)
			s.Tasks[i] = t
		}
		c.Scenario = &s
	}
	return c
}

// cloned copies the values of a method's parameters, some of which are lists.
func cloned(values map[string]any) map[string]any {
	values = maps.Clone(values)
	for name, v := range values {
		if list, ok := v.([]any); ok {
			values[name] = slices.Clone(list)
		}
	}
	return values
}

// setModel changes the kind of network. The sizes are then the defaults of that kind.
func (c *Config) setModel(name string) {
	c.Model, c.Hidden, c.StemChannels, c.Release, c.Stem = name, nil, 0, false, ""
	if c.modelName() == "mlp" {
		begun := Config{}
		params.FillRequired(&begun)
		c.Hidden = begun.Hidden
	}
}

// UseScenario makes the configuration use a scenario instead of a drawn one, and sets all fields
// that it determines, except the data set. Fields that only say how label sets are drawn become
// those of the [DefaultConfig].
func (c *Config) UseScenario(s *scenario.Scenario) {
	plain := DefaultConfig(c.Dataset)
	c.MinClasses, c.MaxClasses = plain.MinClasses, plain.MaxClasses
	c.follow(s)
}

// follow sets the fields that a scenario determines.
func (c *Config) follow(s *scenario.Scenario) {
	c.Overlap, c.Duplicate = 0, false
	c.Scenario, c.Tasks, c.LabelSet, c.Timeline = s, len(s.Tasks), s.LabelSet, s.Timeline
	c.Increment, c.Kind = cmp.Or(s.Increment, c.Increment), cmp.Or(s.Kind, c.Kind)
	c.Batch, c.Epochs = cmp.Or(s.Batch, c.Batch), cmp.Or(s.Epochs, c.Epochs)
}

// withIncrement returns the configuration with another increment, also of its scenario.
func (c Config) withIncrement(increment string) Config {
	c.Increment = increment
	if c.Scenario != nil && c.Scenario.Increment != "" && c.Scenario.Increment != increment {
		other := *c.Scenario
		other.Increment = increment
		c.Scenario = &other
	}
	return c
}

// modelName returns the name of the network: Model, or "mlp" where that is empty.
func (c Config) modelName() string { return cmp.Or(c.Model, "mlp") }

// stem returns the stem as networks know it.
func (c Config) stem() string {
	if c.Stem == "small" {
		return ""
	}
	return c.Stem
}

// MarshalJSON leaves out a model, a stem and a precision that are those of the default, so that
// they give a run no other ID.
func (c Config) MarshalJSON() ([]byte, error) {
	if c.Model == "mlp" {
		c.Model = ""
	}
	c.Stem = c.stem()
	if c.Precision == "float32" {
		c.Precision = ""
	}
	if s := c.spec(); s.Backbone != "" {
		c.Features = s.String()
	}
	if all, err := ways(c.Augment); err == nil {
		c.Augment = strings.Join(all, ",")
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
	return results.IDOf(data)
}

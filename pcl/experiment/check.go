package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/pyrule"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// Checked is a configuration in which [Config.Check] found nothing wrong. It does not change any
// more: a change of its Config has to be checked again.
type Checked struct {
	config Config
	made   *atomic.Pointer[parts] // what Check has made, for the first learner; nil if there is nothing
}

// parts are a method and an optimiser, as they are before the first step: each learner needs its
// own.
type parts struct {
	method    method.Method
	optimizer optim.Optimizer
}

// Config returns a copy of the configuration.
func (c Checked) Config() Config { return c.config.clone() }

// ID returns the configuration's [Config.ID].
func (c Checked) ID() string { return c.config.ID() }

// Folder returns the name of the run's folder, as [Config.Folder] does.
func (c Checked) Folder() string { return c.config.Folder() }

// OnData returns the configuration with the checksum of its data set's files; see [Config.OnData].
func (c Checked) OnData(ctx context.Context, o datasets.Options) (Checked, error) {
	own, err := c.config.OnData(ctx, o)
	c.config = own
	return c, err
}

// WithSeeds returns the configuration with other seeds, none of which is wrong. A scenario that is
// played keeps its label set and its timeline.
func (c Checked) WithSeeds(labelset, timeline, seed uint64) Checked {
	if c.config.Scenario == nil {
		c.config.LabelSet, c.config.Timeline = labelset, timeline
	}
	c.config.Seed = seed
	return c
}

// Check returns the configuration as what runs are made from, or an error that names the first
// thing that is wrong in it. It is the only door: behind it nothing is checked again.
func (c Config) Check() (checked Checked, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("config: %w", err)
		}
	}()
	full := c
	if err := params.Fill(&full); err != nil { // ranges and choices
		return Checked{}, err
	}
	if err := c.checkModel(); err != nil {
		return Checked{}, err
	}
	if err := cmp.Or(c.checkTasks(), c.checkFeatures(), c.checkAugment()); err != nil {
		return Checked{}, err
	}
	if c.Params, err = pyrule.Pin(c.Method, c.Params); err != nil {
		return Checked{}, err
	}
	made, err := c.parts()
	if err != nil {
		return Checked{}, err
	}
	if c.Scenario != nil {
		if err := c.Scenario.Validate(); err != nil {
			return Checked{}, err
		}
		if err := c.checkPlayed(); err != nil {
			return Checked{}, err
		}
	}
	_, unwritable := json.Marshal(c)
	if unwritable != nil {
		return Checked{}, fmt.Errorf("a result file cannot hold a value (write inf and nan as texts): %w", unwritable)
	}
	checked = Checked{c.clone(), new(atomic.Pointer[parts])}
	checked.made.Store(made)
	return checked, nil
}

// parts gives the first learner what Check has made, and each further one parts of its own.
func (c Checked) parts() (*parts, error) {
	if c.made != nil {
		if made := c.made.Swap(nil); made != nil {
			return made, nil
		}
	}
	return c.config.parts()
}

func (c Config) parts() (*parts, error) {
	o, err := c.Optimizer.New()
	if err != nil {
		return nil, err
	}
	m, err := method.New(c.Method, c.Params)
	if err != nil {
		return nil, err
	}
	if c.ExtraUpdate && m.Needs().Direction {
		return nil, fmt.Errorf("extra_update repeats a step by its weights; %s gives a direction instead",
			c.Method)
	}
	return &parts{m, o}, nil
}

func (c Config) checkModel() error {
	name := c.modelName()
	if !slices.Contains(model.Names(), name) {
		return fmt.Errorf("model %q is none of %s", c.Model, strings.Join(model.Names(), ", "))
	}
	if name == "mlp" && len(c.Hidden) == 0 || len(c.Hidden) > 64 {
		return fmt.Errorf("%d hidden layers; the MLP takes 1 to 64", len(c.Hidden))
	}
	if (name == "mlp" || name == "linear") && (c.StemChannels != 0 || c.Release || c.stem() != "") {
		return errors.New("width, release and stem belong to model = \"resnet18\"")
	}
	if (name == "resnet18" || name == "linear") && len(c.Hidden) != 0 {
		return fmt.Errorf("hidden layers belong to model = \"mlp\"; a %s has none", c.Model)
	}
	if c.InitFile != "" && c.Init == "" {
		return fmt.Errorf("InitFile is %s, and Init, its checksum, is missing: init of a Layer sets both", c.InitFile)
	}
	return nil
}

func (c Config) checkTasks() error {
	if c.Edit.Eta > 0 && c.Memory.Budget == 0 {
		return errors.New("editing changes samples of the memory, of which memory.budget = 0 keeps none")
	}
	if c.Overlap > 0 && (c.MinClasses != c.MaxClasses || c.Overlap >= c.MinClasses) {
		return fmt.Errorf("overlap %d; want a number of classes below min_classes = max_classes", c.Overlap)
	}
	if c.Duplicate && c.Overlap == 0 {
		return errors.New("duplicate belongs to tasks that overlap")
	}
	if c.MaxClasses < c.MinClasses {
		return fmt.Errorf("tasks of %d to %d classes; want min_classes ≤ max_classes", c.MinClasses, c.MaxClasses)
	}
	return nil
}

// checkPlayed fails if the configuration says something else than the scenario that it plays.
func (c Config) checkPlayed() error {
	played := c
	played.follow(c.Scenario)
	own, want := params.Values(c), params.Values(played)
	for _, p := range params.Of(c) {
		if !reflect.DeepEqual(own[p.Name], want[p.Name]) {
			return fmt.Errorf("%s is %v, and that of the scenario that is played %v", p.Name, own[p.Name], want[p.Name])
		}
	}
	return nil
}

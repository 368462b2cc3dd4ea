package experiment

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Checked is a configuration in which [Config.Check] found nothing wrong. Its seeds may be changed; whoever changes another
// field has to have its Config checked again.
type Checked struct{ Config }

// rule returns the method and the optimiser, as they are before the first step.
func (c Checked) rule() (method.Method, optim.Optimizer) {
	m, err := method.New(c.Method, c.Params)
	o, wrong := c.Optimizer.New()
	if err := cmp.Or(err, wrong); err != nil {
		panic(fmt.Sprintf("experiment: not a checked configuration: %v", err))
	}
	return m, o
}

// Check returns the configuration as what runs are made from, or an error that names the first thing that is wrong in it.
func (c Config) Check() (Checked, error) {
	_, err := c.Optimizer.New()
	err = cmp.Or(c.checkNumbers(), c.checkModel(), c.checkTasks(), err, c.Shared.Validate(), c.Edit.Validate(), c.checkMethod(), c.Memory.Validate())
	if err == nil && c.Scenario != nil {
		err = errors.Join(c.Scenario.Validate(), c.asPlayed())
	}
	if err == nil {
		_, err = json.Marshal(c) // whatever the checks above may have missed
	}
	if err != nil {
		return Checked{}, fmt.Errorf("config: %w", err)
	}
	return Checked{c}, nil
}

// checkAll checks several configurations.
func checkAll(configs []Config) ([]Checked, error) {
	all := make([]Checked, len(configs))
	for i, c := range configs {
		var err error
		if all[i], err = c.Check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c Config) checkNumbers() error {
	for _, n := range []struct {
		name               string
		value, least, most int
	}{
		{"batch", c.Batch, 1, 1 << 16}, {"epochs", c.Epochs, 1, 1 << 20}, {"tasks", c.Tasks, 1, 1 << 16},
		{"train_per_class", c.TrainPerClass, 0, math.MaxInt32}, {"test_per_class", c.TestPerClass, 0, math.MaxInt32},
		{"eval_every", c.EvalEvery, 0, math.MaxInt32}, {"width", c.Base, 0, 1 << 12},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("%s %d is outside %d…%d", n.name, n.value, n.least, n.most)
		}
	}
	return nil
}

func (c Config) checkModel() error {
	name := c.ModelName()
	switch {
	case !slices.Contains(model.Names(), name):
		return fmt.Errorf("model %q is none of %s", c.Model, strings.Join(model.Names(), ", "))
	case c.Precision != "" && c.Precision != "float32" && c.Precision != "bfloat16":
		return fmt.Errorf("precision %q is neither \"float32\" nor \"bfloat16\"", c.Precision)
	case name == "mlp" && len(c.Hidden) == 0 || len(c.Hidden) > 64:
		return fmt.Errorf("%d hidden layers; the MLP takes 1 to 64", len(c.Hidden))
	case (name == "mlp" || name == "linear") && (c.Base != 0 || c.Release):
		return errors.New("width and release belong to model = \"resnet18\"")
	case (name == "resnet18" || name == "linear") && len(c.Hidden) != 0:
		return fmt.Errorf("hidden layers belong to model = \"mlp\"; a %s has none", c.Model)
	case c.InitFile != "" && c.Init == "":
		return fmt.Errorf("InitFile is %s, and Init, its checksum, is missing: UseWeights sets both", c.InitFile)
	}
	for _, h := range c.Hidden {
		if h < 1 || h > 1<<16 {
			return fmt.Errorf("a hidden layer of %d; want 1…65536", h)
		}
	}
	return nil
}

func (c Config) checkTasks() error {
	switch {
	case c.Increment.Validate() != nil:
		return c.Increment.Validate()
	case c.Kind != scenario.Parallel && c.Kind != scenario.Serial && c.Kind != scenario.AllAtOnce:
		return fmt.Errorf("kind %q is none of %q, %q, %q", c.Kind, scenario.Parallel, scenario.Serial, scenario.AllAtOnce)
	case c.Edit.On() && c.Memory.Budget == 0:
		return errors.New("editing changes samples of the memory, of which memory.budget = 0 keeps none")
	case c.Overlap < 0 || c.Overlap > 0 && (c.MinClasses != c.MaxClasses || c.Overlap >= c.MinClasses):
		return fmt.Errorf("overlap %d; want a number of classes below min_classes = max_classes", c.Overlap)
	case c.Duplicate && c.Overlap == 0:
		return errors.New("duplicate belongs to tasks that overlap")
	case c.MinClasses < 1 || c.MaxClasses < c.MinClasses:
		return fmt.Errorf("tasks of %d to %d classes; want 1 ≤ min_classes ≤ max_classes", c.MinClasses, c.MaxClasses)
	}
	return nil
}

func (c Config) checkMethod() error {
	for name, v := range c.Params {
		if x, ok := v.(float64); ok && (math.IsInf(x, 0) || math.IsNaN(x)) {
			return fmt.Errorf("parameter %s is %g, which a result file cannot hold; write it as text, \"%g\"", name, x, x)
		}
		if _, err := json.Marshal(v); err != nil {
			return fmt.Errorf("parameter %s is %v, which a result file cannot hold: %w", name, v, err)
		}
	}
	m, err := method.New(c.Method, c.Params)
	if err == nil && m.Info().Direct && c.ExtraUpdate {
		err = fmt.Errorf("extra_update repeats a step by its weights; %s gives a direction instead", c.Method)
	}
	return err
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

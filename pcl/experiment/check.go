package experiment

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// Checked is a configuration in which [Config.Check] found nothing wrong. Its seeds may be changed; whoever changes another
// field has to have its Config checked again.
type Checked struct{ Config }

// Check returns the configuration as what runs are made from, or an error that names the first thing that is wrong in it.
// It is the only door: behind it nothing is checked again.
func (c Config) Check() (checked Checked, err error) {
	defer fail.Caught(&err)
	defer fail.At("config")
	full := c
	fail.If(params.Fill(&full)) // ranges and choices
	c.checkModel()
	c.checkTasks()
	c.rule()
	if c.Scenario != nil {
		fail.If(c.Scenario.Validate())
		c.checkPlayed()
	}
	_, unwritable := json.Marshal(c)
	fail.When(unwritable != nil, "a result file cannot hold a value (write inf and nan as texts): %w", unwritable)
	return Checked{c}, nil
}

// rule returns the method and the optimiser, as they are before the first step: each learner needs its own.
func (c Config) rule() (method.Method, optim.Optimizer) {
	o, m := fail.Or(c.Optimizer.New()), fail.Or(method.New(c.Method, c.Params))
	fail.When(c.ExtraUpdate && m.Info().Direct, "extra_update repeats a step by its weights; %s gives a direction instead", c.Method)
	return m, o
}

func (c Config) checkModel() {
	name := c.modelName()
	fail.When(!slices.Contains(model.Names(), name), "model %q is none of %s", c.Model, strings.Join(model.Names(), ", "))
	fail.When(name == "mlp" && len(c.Hidden) == 0 || len(c.Hidden) > 64, "%d hidden layers; the MLP takes 1 to 64", len(c.Hidden))
	fail.When((name == "mlp" || name == "linear") && (c.Base != 0 || c.Release), "width and release belong to model = \"resnet18\"")
	fail.When((name == "resnet18" || name == "linear") && len(c.Hidden) != 0,
		"hidden layers belong to model = \"mlp\"; a %s has none", c.Model)
	fail.When(c.InitFile != "" && c.Init == "", "InitFile is %s, and Init, its checksum, is missing: init of a Layer sets both", c.InitFile)
}

func (c Config) checkTasks() {
	fail.When(c.Edit.Eta > 0 && c.Memory.Budget == 0, "editing changes samples of the memory, of which memory.budget = 0 keeps none")
	fail.When(c.Overlap > 0 && (c.MinClasses != c.MaxClasses || c.Overlap >= c.MinClasses),
		"overlap %d; want a number of classes below min_classes = max_classes", c.Overlap)
	fail.When(c.Duplicate && c.Overlap == 0, "duplicate belongs to tasks that overlap")
	fail.When(c.MaxClasses < c.MinClasses, "tasks of %d to %d classes; want min_classes ≤ max_classes", c.MinClasses, c.MaxClasses)
}

// checkPlayed fails if the configuration says something else than the scenario that it plays.
func (c Config) checkPlayed() {
	played := c
	played.follow(c.Scenario)
	own, want := params.Values(c), params.Values(played)
	for _, p := range params.Of(c) {
		fail.When(!reflect.DeepEqual(own[p.Name], want[p.Name]),
			"%s is %v, and that of the scenario that is played %v", p.Name, own[p.Name], want[p.Name])
	}
}

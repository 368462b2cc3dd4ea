package optim

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// Config describes an optimiser in a configuration file. Its settings beside the schedule are those
// of [Adam] and [SGD], which say what is allowed.
type Config struct {
	Name        string   `json:"name" param:"name,required" default:"adam" flag:"optimizer" doc:"optimiser: adam, adamw or sgd"`
	LR          float64  `json:"lr" param:"lr,required" default:"0.003" flag:"lr" doc:"learning rate"`
	Beta1       float64  `json:"beta1,omitempty" param:"beta1" default:"0" doc:"β₁ of adam and adamw; 0 stands for 0.9"`
	Beta2       float64  `json:"beta2,omitempty" param:"beta2" default:"0" doc:"β₂ of adam and adamw; 0 stands for 0.999"`
	Epsilon     float64  `json:"epsilon,omitempty" param:"epsilon" default:"0" doc:"ε of adam and adamw; 0 stands for 1e-7"`
	Momentum    float64  `json:"momentum,omitempty" param:"momentum" default:"0" doc:"momentum of sgd"`
	Nesterov    bool     `json:"nesterov,omitempty" param:"nesterov" default:"false" doc:"take the momentum of sgd in Nesterov's form"`
	WeightDecay float64  `json:"weight_decay,omitempty" param:"weight_decay" default:"0" doc:"weight decay of adamw and sgd"`
	Schedule    Schedule `json:"schedule,omitzero" param:"schedule"` // changes the step size during training
}

// New returns the optimiser that the configuration describes.
func (c Config) New() (Optimizer, error) {
	pointer, err := c.unscheduled()
	if err != nil {
		return nil, err
	}
	o := reflect.ValueOf(pointer).Elem().Interface().(Optimizer)
	if c.Schedule != (Schedule{}) {
		o = Scheduled{o, c.Schedule}
	}
	return o, Check(o)
}

// kinds are the optimisers by their names in a configuration. A setting of a [Config] fills the
// field that has its name.
var kinds = []struct {
	name string
	zero Optimizer
}{{"adam", Adam{}}, {"adamw", Adam{}}, {"sgd", SGD{}}}

// unscheduled returns a pointer to the optimiser, before its defaults and without the schedule.
func (c Config) unscheduled() (pointer any, err error) {
	var names []string
	for _, k := range kinds {
		if names = append(names, k.name); k.name == c.Name {
			pointer = reflect.New(reflect.TypeOf(k.zero)).Interface()
		}
	}
	switch {
	case pointer == nil:
		return nil, fmt.Errorf("optimizer %q is none of %s", c.Name, strings.Join(names, ", "))
	case c.Name == "adam" && c.WeightDecay != 0:
		return nil, fmt.Errorf("optimizer: adam has no weight_decay; want adamw or sgd for it")
	}
	if err := params.Set(pointer, c.settings()); err != nil {
		return nil, fmt.Errorf("optimizer: %w", err)
	}
	return pointer, nil
}

// settings returns the settings of the optimiser that are not zero, without its name and schedule.
func (c Config) settings() map[string]any {
	c.Name, c.Schedule = "", Schedule{}
	settings := params.Values(c)
	maps.DeleteFunc(settings, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	return settings
}

// WithDefaults replaces zero values of the settings by the values that they stand for.
func (c Config) WithDefaults() Config {
	o, err := c.unscheduled()
	if err != nil {
		return c
	}
	_ = params.Fill(o) // New refuses what Fill refuses
	_ = params.Set(&c, params.Values(o))
	return c
}

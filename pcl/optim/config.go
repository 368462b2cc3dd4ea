package optim

import (
	"fmt"
	"maps"
	"reflect"

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
	o, err := c.unscheduled()
	if err != nil {
		return nil, err
	}
	if c.Schedule != (Schedule{}) {
		o = Scheduled{o, c.Schedule}
	}
	return o, Check(o)
}

func (c Config) unscheduled() (Optimizer, error) {
	var adam Adam
	var sgd SGD
	var err error
	switch c.Name {
	case "adam", "adamw":
		err = params.Set(&adam, c.settings())
	case "sgd":
		err = params.Set(&sgd, c.settings())
	default:
		return nil, fmt.Errorf("optimizer %q is none of adam, adamw, sgd", c.Name)
	}
	switch {
	case c.Name == "adam" && c.WeightDecay != 0:
		return nil, fmt.Errorf("optimizer: adam has no weight_decay; want adamw or sgd for it")
	case err != nil:
		return nil, fmt.Errorf("optimizer: %w", err)
	case c.Name == "sgd":
		return sgd, nil
	}
	return adam, nil
}

// settings are those beside the schedule that are not zero, which are those of an optimiser.
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
	switch o := o.(type) { // what Fill refuses, New refuses too
	case Adam:
		_ = params.Fill(&o)
		_ = params.Set(&c, params.Values(o))
	case SGD:
		_ = params.Fill(&o)
		_ = params.Set(&c, params.Values(o))
	}
	return c
}

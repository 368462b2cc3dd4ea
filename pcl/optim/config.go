package optim

import (
	"fmt"
	"slices"
	"strings"
)

// Config describes an optimiser in a configuration file.
type Config struct {
	Name string  `json:"name" toml:"name"` // "adam", "adamw" or "sgd"
	LR   float64 `json:"lr" toml:"lr"`     // step size γ
	// Beta1 and Beta2 are those of Adam and AdamW; zero values stand for 0.9 and 0.999.
	Beta1   float64 `json:"beta1,omitempty" toml:"beta1"`
	Beta2   float64 `json:"beta2,omitempty" toml:"beta2"`
	Epsilon float64 `json:"epsilon,omitempty" toml:"epsilon"`
	// Momentum and Nesterov belong to SGD, WeightDecay to SGD and AdamW.
	Momentum    float64 `json:"momentum,omitempty" toml:"momentum"`
	Nesterov    bool    `json:"nesterov,omitempty" toml:"nesterov"`
	WeightDecay float64 `json:"weight_decay,omitempty" toml:"weight_decay"`
	// Schedule changes the step size during training.
	Schedule Schedule `json:"schedule,omitzero" toml:"schedule"`
}

// kinds lists for each optimiser the settings that it has beside its step size, and how it is made of them.
var kinds = map[string]struct {
	has  string
	make func(Config) Optimizer
}{
	"sgd": {"momentum nesterov weight_decay", func(c Config) Optimizer {
		return SGD{LR: c.LR, Momentum: c.Momentum, Nesterov: c.Nesterov, WeightDecay: c.WeightDecay}
	}},
	"adam":  {"beta1 beta2 epsilon", func(c Config) Optimizer { return c.adam() }},
	"adamw": {"beta1 beta2 epsilon weight_decay", func(c Config) Optimizer { return AdamW{c.adam(), c.WeightDecay} }},
}

func (c Config) adam() Adam {
	return Adam{LR: c.LR, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon}
}

// Names returns the names of the optimisers in alphabetical order.
func Names() []string {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New returns the optimiser that the configuration describes.
func (c Config) New() (Optimizer, error) {
	kind, ok := kinds[c.Name]
	if !ok {
		return nil, fmt.Errorf("optimizer %q is none of %s", c.Name, strings.Join(Names(), ", "))
	}
	for _, s := range []struct {
		name string
		set  bool
	}{
		{"beta1", c.Beta1 != 0}, {"beta2", c.Beta2 != 0}, {"epsilon", c.Epsilon != 0}, {"momentum", c.Momentum != 0},
		{"nesterov", c.Nesterov}, {"weight_decay", c.WeightDecay != 0},
	} {
		if s.set && !slices.Contains(strings.Fields(kind.has), s.name) {
			return nil, fmt.Errorf("optimizer %q has no %s; it has %s", c.Name, s.name, strings.Join(append([]string{"lr"}, strings.Fields(kind.has)...), ", "))
		}
	}
	o := kind.make(c)
	if c.Schedule != (Schedule{}) {
		o = Scheduled{o, c.Schedule}
	}
	return o, o.Validate()
}

// WithDefaults replaces zero values of the settings by the values that they stand for.
func (c Config) WithDefaults() Config {
	if c.Name == "adam" || c.Name == "adamw" {
		a := c.adam().withDefaults()
		c.Beta1, c.Beta2, c.Epsilon = a.Beta1, a.Beta2, a.Epsilon
	}
	return c
}

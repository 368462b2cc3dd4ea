package experiment

import "github.com/parallelcl/parallelcl/pcl/scenario"

// Vary returns copies of base with every combination of the given methods, increments and seeds: all configurations
// of the first method come first, and among them those of the first increment. Where a list is empty, the value of
// base is used.
func Vary(base Config, methods []string, increments []scenario.Increment, seeds ...uint64) []Config {
	if len(methods) == 0 {
		methods = []string{base.Method}
	}
	if len(increments) == 0 {
		increments = []scenario.Increment{base.Increment}
	}
	if len(seeds) == 0 {
		seeds = []uint64{base.Seed}
	}
	var configs []Config
	for _, name := range methods {
		for _, increment := range increments {
			for _, seed := range seeds {
				c := base.WithIncrement(increment)
				c.Method, c.Seed = name, seed
				configs = append(configs, c)
			}
		}
	}
	return configs
}

package experiment

import "github.com/parallelcl/parallelcl/pcl/scenario"

// Vary returns base in every combination of methods, increments and seeds, in that order. What is empty
// stays as in base.
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
				c := base
				c.Method, c.Increment, c.Seed = name, increment, seed
				configs = append(configs, c)
			}
		}
	}
	return configs
}

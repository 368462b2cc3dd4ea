package experiment

// Vary returns copies of base with every combination of the given methods, increments and seeds:
// all configurations of the first method come first, and among them those of the first increment.
// Where a list is empty, the value of base is used.
func Vary(base Config, methods, increments []string, seeds ...uint64) (configs []Config) {
	for _, name := range orOwn(methods, base.Method) {
		for _, increment := range orOwn(increments, base.Increment) {
			for _, seed := range orOwn(seeds, base.Seed) {
				c := base.withIncrement(increment)
				c.Method, c.Seed = name, seed
				configs = append(configs, c)
			}
		}
	}
	return configs
}

func orOwn[T any](values []T, own T) []T {
	if len(values) == 0 {
		return []T{own}
	}
	return values
}

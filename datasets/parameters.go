package datasets

import (
	"fmt"
	"net/url"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// splitting says which samples are for testing, of files that are not split already.
type splitting struct {
	Test float64 `param:"test" default:"0.2" range:"(0,1)" doc:"share of each class that is for testing"`
	Seed uint64  `param:"seed" default:"0" doc:"another seed chooses other test samples"`
}

// asked says whether a name has parameters of the split.
func (s splitting) asked(given map[string]any) bool { return given["test"] != nil || s.Seed != 0 }

// queried reads what stands behind the question mark of a name, such as size=32x32&channels=3.
func queried(query string) (map[string]any, error) {
	all, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("the parameters %q: %w", query, err)
	}
	given := map[string]any{}
	for name, values := range all {
		if given[name] = values[0]; len(values) > 1 {
			return nil, fmt.Errorf("the parameter %s is given %d times", name, len(values))
		}
	}
	return given, nil
}

// withParameters returns what a struct declares, with the given values and the defaults of the others.
func withParameters[T any](given map[string]any) (out T, err error) {
	if out, err = params.With(out, given); err == nil {
		out, err = params.Filled(out)
	}
	return out, err
}

package method

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

var parts = map[string]rehearsal.Part{}

func init() {
	for _, p := range rehearsal.All() {
		RegisterPart(p)
	}
}

// RegisterPart makes a part of a rehearsal known under its name, to [New] and the command line. Its parameters are the
// tagged fields of its struct (package params). It panics if the name is empty or taken, if the part is not a struct, or
// if its tags contradict themselves. A cell of a notebook that runs again replaces what it has registered.
func RegisterPart(p rehearsal.Part) {
	name := p.Info().Name
	if name == "" || strings.Contains(name, "+") {
		panic(fmt.Sprintf("method: RegisterPart: a part needs a name without +, not %q", name))
	}
	params.Of(p) // panics if they cannot be read
	if _, taken := parts[name]; !origin.MayRegister("part", name, taken) {
		panic(fmt.Sprintf("method: the part %q is registered twice", name))
	}
	parts[name] = p
}

// PartNames returns the names of the registered parts in alphabetical order.
func PartNames() []string { return slices.Sorted(maps.Keys(parts)) }

// LookupPart returns the part that was registered under the name.
func LookupPart(name string) (rehearsal.Part, error) {
	if p, ok := parts[name]; ok {
		return p, nil
	}
	if _, isRule := registry[name]; isRule {
		return nil, fmt.Errorf("%q is a rule, of which a composition has one, and first; parts are %s", name, strings.Join(PartNames(), ", "))
	}
	return nil, fmt.Errorf("unknown part %q; known: %s", name, strings.Join(PartNames(), ", "))
}

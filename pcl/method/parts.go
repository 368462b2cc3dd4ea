package method

import (
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

var parts = origin.Registry[rehearsal.Part]{Kind: "part"}

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
	if strings.Contains(name, "+") {
		panic(fmt.Sprintf("method: RegisterPart: a part needs a name without +, not %q", name))
	}
	params.Of(p) // panics if they cannot be read
	parts.Add(name, p)
}

// PartNames returns the names of the registered parts in alphabetical order.
func PartNames() []string { return parts.Names() }

// LookupPart returns the part that was registered under the name.
func LookupPart(name string) (rehearsal.Part, error) {
	p, err := parts.Find(name)
	if _, notRule := registry.Find(name); err != nil && notRule == nil {
		err = fmt.Errorf("%q is a rule, of which a composition has one, and first; parts are %s", name, strings.Join(PartNames(), ", "))
	}
	return p, err
}

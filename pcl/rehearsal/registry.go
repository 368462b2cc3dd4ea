package rehearsal

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/names"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// Info describes a part.
type Info struct {
	Name   string // as on the command line, e.g. "der-pp"
	Title  string // as in print, e.g. "DER++"
	Does   string // what it changes, in one line
	Source string // the publication to cite
	Cost   string // what it adds to a step, in forward (F) and backward (B) passes
	State  string // what is remembered between steps, or "none"
	// Axes are the choices that the part makes; two parts that make the same choice exclude each
	// other. They are
	//
	//	"task loss"      the loss that the tasks in training are trained on
	//	"memory loss"    the loss, or the losses, that replayed samples are trained on
	//	"replay"         which of the stored samples a step replays
	//	"selection"      which samples of a task are stored
	//	"teacher"        what the tasks in training learn from the model as it was when a task last ended
	//	"penalty"        what keeps parameters near where earlier tasks left them
	//	"stored logits"  how the logits that are stored with samples change when a task ends
	//	"prediction"     how a class is chosen for a sample
	Axes []string
}

var axes = []string{"task loss", "memory loss", "replay", "selection", "teacher", "penalty", "stored logits",
	"prediction"}

// Part is a part of a rehearsal: a pointer to a struct whose tagged fields are its parameters
// (package params).
type Part interface {
	// Join sets the fields of a rehearsal for the choices that the part makes. It is called with
	// the defaults in place of zero values, after ranges and choices have been checked.
	Join(r *Rehearsal) error
}

// Checker is a part that does not go with all others.
type Checker interface {
	// Check returns an error if the part does not go with the others, when all have joined.
	Check(r *Rehearsal) error
}

// registered is what [Register] was given.
type registered struct {
	info Info
	new  func() Part
	kind reflect.Type
}

var registry = names.Registry[registered]{Kind: "part"}

// Register makes a part of a rehearsal known under the name info.Name, to [Find], method.New and
// the command line. make returns a new one with the zero values of its parameters.
//
// Register panics if the name is empty or taken or has a +, if the struct is registered already, if
// an axis is unknown, or if the tags contradict themselves. Re-running a notebook cell replaces
// what it registered.
func Register(info Info, make func() Part) {
	p := make()
	params.Of(p) // panics if they cannot be read
	if strings.Contains(info.Name, "+") {
		panic(fmt.Sprintf("rehearsal: Register needs a name without +, not %q", info.Name))
	}
	for _, axis := range info.Axes {
		if !slices.Contains(axes, axis) {
			panic(fmt.Sprintf("rehearsal: part %s has the axis %q; want one of %s", info.Name, axis, strings.Join(axes, ", ")))
		}
	}
	if before, twice := registeredAs(p); twice && before.info.Name != info.Name {
		panic(fmt.Sprintf("rehearsal: %T, the struct of %q, is registered as %q", p, info.Name, before.info.Name))
	}
	registry.Add(info.Name, registered{info, make, names.StructOf(p)})
}

// registeredAs returns what a part's struct was registered as.
func registeredAs(p Part) (r registered, ok bool) {
	kind := names.StructOf(p)
	for _, r := range registry.All() {
		if r.kind == kind {
			return r, true
		}
	}
	return r, false
}

// Names returns the names of the registered parts in alphabetical order.
func Names() []string { return registry.Names() }

// Find returns a new part of those that were registered under the name, with the zero values of its
// parameters.
func Find(name string) (Part, error) {
	r, err := registry.Find(name)
	if err != nil {
		return nil, err
	}
	return r.new(), nil
}

// Describe returns what a part was registered as, whatever its parameters. Of a part that is not
// registered it has only the name of its type.
func Describe(p Part) Info {
	if r, ok := registeredAs(p); ok {
		return r.info
	}
	name := names.StructOf(p).Name()
	return Info{Name: name, Title: name, Cost: "none", State: "none"}
}

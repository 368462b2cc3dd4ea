package rehearsal

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/origin"
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
	// Axes are the choices that the part makes; two parts that make the same choice exclude each other. They are
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

var axes = []string{"task loss", "memory loss", "replay", "selection", "teacher", "penalty", "stored logits", "prediction"}

// A part, or a pointer to it, is one of these. Those of this package end the work at an error by package fail.
type (
	joiner interface{ Join(r *Rehearsal) error }
	own    interface{ join(r *Rehearsal) }
)

// declared is a registered part.
type declared struct {
	info Info
	part any
}

var registry = origin.Registry[declared]{Kind: "part"}

// Register makes a part of a rehearsal known under the name info.Name, to [New], method.New and the command line. The part
// is a struct whose tagged fields are its parameters (package params). It has the method
//
//	Join(r *Rehearsal) error
//
// which sets the fields of a rehearsal for the choices that the part makes. It is called with the defaults in place of zero
// values, after ranges and choices have been checked.
//
// It may also have Fits(r *Rehearsal) error, which is asked when all parts have joined.
//
// Register panics if the name is empty or taken or has a +, if the struct is registered already, if the part has no Join, if an axis is unknown, or if the tags
// contradict themselves. A cell of a notebook that runs again replaces what it has registered.
func Register(info Info, part any) {
	params.Of(part) // panics if they cannot be read
	if strings.Contains(info.Name, "+") {
		panic(fmt.Sprintf("rehearsal: Register needs a name without +, not %q", info.Name))
	}
	for _, axis := range info.Axes {
		if !slices.Contains(axes, axis) {
			panic(fmt.Sprintf("rehearsal: part %s has the axis %q; want one of %s", info.Name, axis, strings.Join(axes, ", ")))
		}
	}
	if d, twice := declarationOf(part); twice && d.info.Name != info.Name {
		panic(fmt.Sprintf("rehearsal: %T, the struct of %q, is registered as %q", part, info.Name, d.info.Name))
	}
	switch reflect.New(origin.StructOf(part)).Interface().(type) {
	case joiner, own:
	default:
		panic(fmt.Sprintf("rehearsal: %T has no Join", part))
	}
	registry.Add(info.Name, declared{info, part})
}

// published registers a part of this package in the file that holds it.
func published(info Info, part any) (none struct{}) {
	Register(info, part)
	return none
}

// Names returns the names of the registered parts in alphabetical order.
func Names() []string { return registry.Names() }

// Find returns the part that was registered under the name, with its defaults.
func Find(name string) (part any, err error) {
	d, err := registry.Find(name)
	return d.part, err
}

// Describe returns what a part was registered as, whatever its parameters. It panics if the part's type is not registered.
func Describe(part any) Info {
	d, registered := declarationOf(part)
	if !registered {
		panic(fmt.Sprintf("rehearsal: %T is not a registered part", part))
	}
	return d.info
}

func declarationOf(part any) (d declared, registered bool) {
	return registry.OfType(part, func(d declared) any { return d.part })
}

// join lets a part join a rehearsal, and returns the error that it ends with.
func join(part any, r *Rehearsal) error {
	copied := reflect.New(origin.StructOf(part))
	copied.Elem().Set(reflect.Indirect(reflect.ValueOf(part)))
	filled := copied.Interface()
	if err := params.Fill(filled); err != nil {
		return err
	}
	if p, ok := filled.(joiner); ok { // also where its struct embeds a part of this package
		return p.Join(r)
	}
	return fail.Tried(func() { filled.(own).join(r) })
}

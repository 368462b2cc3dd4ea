// Package names holds what parts of a program have registered under names.
package names

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Keeper decides who may take a name, for a program whose parts come and go, such as that of a
// notebook.
type Keeper interface {
	// MayTake reports whether something may be registered under a name. kind is what the registry
	// holds; taken reports whether the name stands for something already, which is then replaced.
	MayTake(kind, name string, taken bool) bool
}

// once is the keeper of other programs: each name is taken once.
type once struct{}

func (once) MayTake(_, _ string, taken bool) bool { return !taken }

var keeper Keeper = once{}

// SetKeeper has k decide from now on. It is called before anything is registered by several
// goroutines.
func SetKeeper(k Keeper) { keeper = k }

// Registry holds values by their names. It may be used from any goroutine.
type Registry[T any] struct {
	Kind string // what it holds, such as "method"

	mutex sync.RWMutex
	all   map[string]T
}

// Add registers something. It panics if the name is empty, or taken and the [Keeper] does not have
// it replaced.
func (r *Registry[T]) Add(name string, x T) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, taken := r.all[name]
	if name == "" || !keeper.MayTake(r.Kind, name, taken) {
		panic(fmt.Sprintf("%s: the name %q is empty or registered twice", r.Kind, name))
	}
	if r.all == nil {
		r.all = map[string]T{}
	}
	r.all[name] = x
}

// All returns what is registered.
func (r *Registry[T]) All() map[string]T {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return maps.Clone(r.all)
}

// Names returns the names in alphabetical order.
func (r *Registry[T]) Names() []string { return slices.Sorted(maps.Keys(r.All())) }

// Find returns what is registered under a name.
func (r *Registry[T]) Find(name string) (T, error) {
	r.mutex.RLock()
	x, ok := r.all[name]
	r.mutex.RUnlock()
	if !ok {
		return x, fmt.Errorf("unknown %s %q; known: %s", r.Kind, name, strings.Join(r.Names(), ", "))
	}
	return x, nil
}

// OfType returns what was registered with a struct of x's type; declaration is the struct of an
// entry. Both may be pointers.
func (r *Registry[T]) OfType(x any, declaration func(T) any) (found T, ok bool) {
	t := StructOf(x)
	for _, d := range r.All() {
		if StructOf(declaration(d)) == t {
			return d, true
		}
	}
	return found, false
}

// StructOf is the type of a declaration, or of what it points to.
func StructOf(declaration any) reflect.Type {
	return reflect.Indirect(reflect.ValueOf(declaration)).Type()
}

// Package recipe remembers in the process of a notebook how values were made, so that a process that takes its place can make
// them again. In other programs it does nothing.
package recipe

import (
	"context"
	"encoding/json"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
)

// Recipe says how a value of some kind was made: from Args.
type Recipe struct {
	Kind string
	Args json.RawMessage
}

// Make makes a value as its recipe says. The package that notes recipes sets it.
var Make func(context.Context, Recipe) (any, error)

var (
	on   atomic.Bool
	made sync.Map // recipes by key
)

// key names a value as long as it is in memory.
type key struct {
	of reflect.Type
	at uintptr
}

func keyOf(pointer any) key { return key{reflect.TypeOf(pointer), reflect.ValueOf(pointer).Pointer()} }

// Remember begins to remember. The host of a notebook's cells calls it.
func Remember() { on.Store(true) }

// Note remembers how the value was made that p points to.
func Note[T any](p *T, kind string, args any) {
	if !on.Load() {
		return
	}
	data, err := json.Marshal(args)
	if err != nil {
		return // it can't be made again
	}
	k := keyOf(p)
	made.Store(k, Recipe{kind, data})
	runtime.AddCleanup(p, func(k key) { made.Delete(k) }, k)
}

// Of returns how a value was made, if it is a pointer that [Note] knows.
func Of(value any) (Recipe, bool) {
	if v := reflect.ValueOf(value); v.Kind() != reflect.Pointer || v.IsNil() {
		return Recipe{}, false
	}
	r, ok := made.Load(keyOf(value))
	if !ok {
		return Recipe{}, false
	}
	return r.(Recipe), true
}

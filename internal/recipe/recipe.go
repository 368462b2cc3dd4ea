// Package recipe remembers in the process of a notebook how values were made, so that a process that takes its place can make
// them again. In other programs it does nothing.
package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
)

// Recipe says how a value was made: by the maker of a kind, from Args.
type Recipe struct {
	Kind string
	Args json.RawMessage
}

// Maker makes a value from what [Note] was given for one.
type Maker func(ctx context.Context, args json.RawMessage) (any, error)

var (
	on     atomic.Bool
	makers = map[string]Maker{}
	made   sync.Map // recipes by key
)

// key names a value as long as it is in memory.
type key struct {
	of reflect.Type
	at uintptr
}

func keyOf(pointer any) key { return key{reflect.TypeOf(pointer), reflect.ValueOf(pointer).Pointer()} }

// Remember begins to remember. The host of a notebook's cells calls it.
func Remember() { on.Store(true) }

// Register declares how values of a kind are made again. It is called at the beginning of a program.
func Register(kind string, m Maker) { makers[kind] = m }

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

// Make makes a value as its recipe says.
func (r Recipe) Make(ctx context.Context) (any, error) {
	m, ok := makers[r.Kind]
	if !ok {
		return nil, fmt.Errorf("nothing makes a %s", r.Kind)
	}
	return m(ctx, r.Args)
}

package experiment

import (
	"context"
	"encoding/json"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
)

// Recipe says how a [Session] made a value, which [Recipe.Make] makes again, also in another
// process. It can be encoded with encoding/json and encoding/gob.
type Recipe struct {
	Kind string          // "session", "learner" or "task"
	Args json.RawMessage // what it was made from
}

// recipeArgs is what sessions, their learners and their tasks are made from.
type recipeArgs struct {
	Dataset string
	Options Options
	Config  Config
	ID      int
	Classes []int
}

var (
	keeping atomic.Bool
	recipes sync.Map // by key
)

// key names a value as long as it is in memory.
type key struct {
	of reflect.Type
	at uintptr
}

func keyOf(pointer any) key { return key{reflect.TypeOf(pointer), reflect.ValueOf(pointer).Pointer()} }

// KeepRecipes keeps the recipe of each value that sessions make from now on, as long as the value
// is in memory.
func KeepRecipes() { keeping.Store(true) }

// keepRecipe keeps how the value was made that p points to.
func keepRecipe[T any](p *T, kind string, args recipeArgs) {
	if !keeping.Load() {
		return
	}
	data, err := json.Marshal(args)
	if err != nil {
		return // it can't be made again
	}
	k := keyOf(p)
	recipes.Store(k, Recipe{kind, data})
	runtime.AddCleanup(p, func(k key) { recipes.Delete(k) }, k)
}

// RecipeOf returns the recipe of a session, of a learner that a session made, or of the test set of
// a session's task. There is one if [KeepRecipes] was called before it was made.
func RecipeOf(value any) (r Recipe, ok bool) {
	if v := reflect.ValueOf(value); v.Kind() != reflect.Pointer || v.IsNil() {
		return r, false
	}
	kept, ok := recipes.Load(keyOf(value))
	if !ok {
		return r, false
	}
	return kept.(Recipe), true
}

// remadeSessions has the sessions that were made again, by their data set and options.
var remadeSessions sync.Map

// Make makes the value again: a *[Session], a *[pcl.Learner] or a [pcl.Task]. Values of one session
// come from one session again.
func (r Recipe) Make(ctx context.Context) (any, error) {
	var a recipeArgs
	if err := json.Unmarshal(r.Args, &a); err != nil {
		return nil, err
	}
	made, _ := remadeSessions.LoadOrStore([2]any{a.Dataset, a.Options}, New(a.Dataset, a.Options))
	switch s := made.(*Session); r.Kind {
	case "session":
		return s, nil
	case "learner":
		return s.Learner(ctx, a.Config)
	default:
		return s.Task(ctx, a.Config, a.ID, a.Classes...)
	}
}

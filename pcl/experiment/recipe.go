package experiment

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/parallelcl/parallelcl/internal/recipe"
)

// recipeArgs is what sessions, their learners and their tasks are made from, for a notebook whose process is replaced.
type recipeArgs struct {
	Dataset string
	Options Options
	Config  Config
	ID      int
	Classes []int
}

func init() {
	for what, again := range map[string]func(context.Context, *Session, recipeArgs) (any, error){
		"session": func(_ context.Context, s *Session, _ recipeArgs) (any, error) { return s, nil },
		"learner": func(ctx context.Context, s *Session, a recipeArgs) (any, error) { return s.Learner(ctx, a.Config) },
		"task": func(ctx context.Context, s *Session, a recipeArgs) (any, error) {
			return s.Task(ctx, a.Config, a.ID, a.Classes...)
		},
	} {
		recipe.Register(what, func(ctx context.Context, args json.RawMessage) (any, error) {
			s, a, err := remade(args)
			if err != nil {
				return nil, err
			}
			return again(ctx, s, a)
		})
	}
}

var remadeSessions = struct {
	sync.Mutex
	byArgs map[string]*Session
}{byArgs: map[string]*Session{}}

// remade returns the session of what is made again. What one session had made comes from one again.
func remade(args json.RawMessage) (*Session, recipeArgs, error) {
	var a recipeArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, a, err
	}
	name, err := json.Marshal(recipeArgs{Dataset: a.Dataset, Options: a.Options})
	if err != nil {
		return nil, a, err
	}
	remadeSessions.Lock()
	defer remadeSessions.Unlock()
	s := remadeSessions.byArgs[string(name)]
	if s == nil {
		s = New(a.Dataset, a.Options)
		remadeSessions.byArgs[string(name)] = s
	}
	return s, a, nil
}

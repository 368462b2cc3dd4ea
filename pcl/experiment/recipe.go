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

func init() { recipe.Make = remake }

// remadeSessions has the sessions that were made again, by their data set and options.
var remadeSessions sync.Map

// remake makes a session, or what one has made, again. What one session had made comes from one again.
func remake(ctx context.Context, r recipe.Recipe) (any, error) {
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

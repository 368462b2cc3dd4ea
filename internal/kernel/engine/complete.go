package engine

import (
	"context"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// Complete proposes what may stand at an offset of a cell.
func (e *Engine) Complete(ctx context.Context, code string, offset int) (jupyter.Completion, error) {
	return jupyter.Completion{Start: offset, End: offset}, nil
}

// Inspect describes what stands there.
func (e *Engine) Inspect(ctx context.Context, code string, offset, level int) (map[string]any, error) {
	return nil, nil
}

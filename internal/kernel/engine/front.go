package engine

import (
	"context"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// front is what the engine knows of the front end: which displays are there, and the channel of GoNB's widgets.
type front struct {
	mu       sync.Mutex
	displays map[string]bool
}

func (f *front) init() { f.displays = map[string]bool{} }

// shown says whether a display with this name is there already, and remembers it.
func (f *front) shown(id string) bool {
	if id == "" {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.displays[id]
	f.displays[id] = true
	return before
}

// takes takes what is not to be displayed: messages of widgets, and questions to the user.
func (f *front) takes(e *Engine, d *protocol.DisplayData, out jupyter.Out) bool {
	return false
}

// Comm takes a message of a widget.
func (e *Engine) Comm(ctx context.Context, m jupyter.Comm, out jupyter.Out) error { return nil }

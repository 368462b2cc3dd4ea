package engine

import (
	"context"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/page"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// newBridge returns what connects the widgets of a host with the pages that show the notebook.
func (e *Engine) newBridge(p *process) *page.Bridge {
	return page.New(e.config.Connection, func(address string, value any) {
		p.pipes.send(&protocol.CommValue{Address: address, Value: value})
	})
}

func (e *Engine) bridge() *page.Bridge {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.page
}

// takes takes what is not to be displayed: messages of widgets, and questions to the user.
func (e *Engine) takes(d *protocol.DisplayData, out jupyter.Out) bool {
	if r, ok := d.Data[protocol.MIMEJupyterInput].(protocol.InputRequest); ok {
		go e.askUser(r, out)
		return true
	}
	return e.bridge().Takes(d, out)
}

// askUser asks the user for a line, which the cell then reads from its standard input.
func (e *Engine) askUser(r protocol.InputRequest, out jupyter.Out) {
	line, err := out.Input(context.Background(), r.Prompt, r.Password)
	if err != nil {
		line = ""
	}
	e.mu.Lock()
	p := e.process
	e.mu.Unlock()
	p.send(wire.Request{ID: -1, Op: "input", List: []string{line}})
}

// Comm takes a message of a page.
func (e *Engine) Comm(_ context.Context, m jupyter.Comm, out jupyter.Out) error {
	return e.bridge().Comm(m, out)
}

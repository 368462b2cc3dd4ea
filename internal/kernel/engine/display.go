package engine

import (
	"context"
	"encoding/gob"
	"os"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

func init() {
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

// showAll shows what the host sends by package gonbui, until it ends. What it has written before comes first.
func (e *Engine) showAll(p *process, displays *os.File) {
	defer displays.Close()
	for dec := gob.NewDecoder(displays); ; {
		d := new(protocol.DisplayData)
		if dec.Decode(d) != nil {
			return
		}
		out := e.out()
		value, _ := d.Data[protocol.MIMECommValue].(protocol.CommValue)
		question, asks := d.Data[protocol.MIMEJupyterInput].(protocol.InputRequest)
		p.drain()
		switch {
		case value.Address == protocol.GonbuiSyncAddress:
			go p.give(protocol.GonbuiSyncAckAddress, value.Value)
		case out == nil:
		case asks:
			go e.input(p, question)
		case !p.page.Takes(d, out):
			show(p, d, out)
		}
	}
}

// give gives package gonbui a value of the front end.
func (p *process) give(address string, value any) {
	p.values.Encode(&protocol.CommValue{Address: address, Value: value}) // if the host has ended, nobody waits for it
}

// input asks the user for a line. One question is enough for all who wait for a line.
func (e *Engine) input(p *process, r protocol.InputRequest) {
	if !p.asks.CompareAndSwap(false, true) {
		return
	}
	line, err := e.out().Input(context.Background(), r.Prompt, r.Password)
	lines := []string{line}
	if err != nil {
		lines = nil
	}
	p.asks.Store(false)
	p.call(context.Background(), "Give", lines, nil)
}

// show shows rich output.
func show(p *process, d *protocol.DisplayData, out jupyter.Out) {
	shown := jupyter.Display{Data: map[string]any{}, Metadata: d.Metadata}
	for kind, v := range d.Data {
		shown.Data[string(kind)] = v
	}
	if d.Metadata[wire.Result] == true {
		shown.Result, shown.Metadata = true, nil
	}
	if d.DisplayID != "" {
		shown.ID, shown.Update = p.page.Place(d.DisplayID, out)
	}
	out.Display(shown)
}

package engine

import (
	"context"
	"fmt"
	"html"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// front is what the engine knows of the front end: which displays are there, and the channel of GoNB's widgets. Those talk
// through an object in the browser, gonb_comm, which GoNB's own script makes.
type front struct {
	engine *Engine
	script string
	queue  chan func() // what widgets have sent, in its order

	mu       sync.Mutex
	displays map[string]bool
	wanted   map[string]bool // addresses of which the host wants to hear
	channel  string          // the id of the comm; empty if there is none
	heard    time.Time       // when it last said something
	answered chan struct{}   // is closed when it opens or answers
}

// Addresses of GoNB's protocol between kernel and browser.
const (
	openedAddress = "#comm_open_ack"
	pingAddress   = "#heartbeat/ping"
	pongAddress   = "#heartbeat/pong"
)

func newFront(e *Engine, script, kernelID string) *front {
	f := &front{engine: e, displays: map[string]bool{}, wanted: map[string]bool{}, answered: make(chan struct{}), queue: make(chan func(), 1000)}
	f.script = strings.NewReplacer("{{.KernelId}}", kernelID, "{{.Verbose}}", "false", `"ws://" + document.location.host + "/`, socketURL).Replace(script)
	go func() {
		for do := range f.queue {
			do()
		}
	}()
	return f
}

// socketURL is the address of the Jupyter server, also if that has a prefix or uses TLS.
const socketURL = `(document.location.protocol === "https:" ? "wss://" : "ws://") + document.location.host + ` +
	`(JSON.parse(document.getElementById("jupyter-config-data")?.textContent || "{}").baseUrl || "/") + "`

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
func (f *front) takes(d *protocol.DisplayData, out jupyter.Out) bool {
	if r, ok := d.Data[protocol.MIMEJupyterInput].(protocol.InputRequest); ok {
		go f.ask(r, out)
		return true
	}
	if v, ok := commValue(d); ok {
		f.queue <- func() { f.fromHost(v, out) }
		return true
	}
	if s, ok := d.Data[protocol.MIMECommSubscribe].(protocol.CommSubscription); ok {
		f.mu.Lock()
		f.wanted[s.Address] = !s.Unsubscribe
		f.mu.Unlock()
		if !s.Unsubscribe {
			f.queue <- func() { f.connect(out) }
		}
		return true
	}
	return false
}

// ask asks the user for a line, which the cell then reads from its standard input.
func (f *front) ask(r protocol.InputRequest, out jupyter.Out) {
	line, err := out.Input(context.Background(), r.Prompt, r.Password)
	if err != nil {
		line = ""
	}
	f.engine.mu.Lock()
	p := f.engine.process
	f.engine.mu.Unlock()
	p.send(wire.Request{ID: -1, Op: "input", List: []string{line}})
}

// fromHost tells the browser of a value, or asks it for one.
func (f *front) fromHost(v protocol.CommValue, out jupyter.Out) {
	if !f.connect(out) || v.Address == protocol.GonbuiStartAddress {
		return
	}
	data := map[string]any{"address": v.Address, "value": v.Value}
	if v.Request {
		data = map[string]any{"address": v.Address, "read_request": true}
	}
	f.send(data, out)
}

func (f *front) send(data map[string]any, out jupyter.Out) {
	f.mu.Lock()
	id := f.channel
	f.mu.Unlock()
	out.Comm(jupyter.Comm{Kind: jupyter.CommMessage, ID: id, Data: data})
}

// connect makes sure that the browser has a channel. A page that was loaded again has lost it.
func (f *front) connect(out jupyter.Out) bool {
	f.mu.Lock()
	answered, open := f.answered, f.channel != ""
	recent := time.Since(f.heard) < time.Second
	f.mu.Unlock()
	if open && recent {
		return true
	}
	if open {
		f.send(map[string]any{"address": pingAddress, "value": true}, out)
		if f.wait(answered, 500*time.Millisecond) {
			return true
		}
		f.mu.Lock()
		f.channel = ""
		f.mu.Unlock()
	}
	if f.script == "" {
		return false
	}
	id := fmt.Sprintf("gonb_websocket_%d", time.Now().UnixNano())
	show := func(text string, update bool) {
		out.Display(jupyter.Display{Data: map[string]any{"text/html": text}, ID: id, Update: update})
	}
	show("<script>"+f.script+"</script>", false)
	defer show("", true) // it is not saved with the notebook
	if f.wait(answered, 3*time.Second) {
		return true
	}
	out.Stream("stderr", "The widgets of this notebook cannot be reached: no browser has opened their channel.\n")
	return false
}

func (f *front) wait(answered chan struct{}, limit time.Duration) bool {
	select {
	case <-answered:
		return true
	case <-time.After(limit):
		return false
	}
}

// Comm takes a message of the browser.
func (e *Engine) Comm(_ context.Context, m jupyter.Comm, out jupyter.Out) error {
	f := e.front
	if m.Kind == jupyter.CommOpen && m.Target != "gonb_comm" {
		return fmt.Errorf("no comm target %s", html.EscapeString(m.Target))
	}
	f.mu.Lock()
	f.heard = time.Now()
	if m.Kind == jupyter.CommOpen || m.ID == f.channel {
		close(f.answered)
		f.answered = make(chan struct{})
	}
	switch m.Kind {
	case jupyter.CommOpen:
		f.channel = m.ID
	case jupyter.CommClose:
		if m.ID == f.channel {
			f.channel = ""
		}
	}
	data, _ := m.Data.(map[string]any)
	address, _ := data["address"].(string)
	wanted := f.wanted[address]
	f.mu.Unlock()
	switch {
	case m.Kind == jupyter.CommOpen:
		f.send(map[string]any{"address": openedAddress, "value": true}, out)
	case address == pingAddress:
		f.send(map[string]any{"address": pongAddress, "value": true}, out)
	case wanted:
		e.mu.Lock()
		p := e.process
		e.mu.Unlock()
		p.pipes.send(&protocol.CommValue{Address: address, Value: data["value"]})
	}
	return nil
}

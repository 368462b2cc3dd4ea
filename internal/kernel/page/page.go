// Package page connects gonbui's comms, and with them its widgets, to the pages that show a notebook.
//
// A script in the page opens a comm to the kernel, over the Jupyter server that the page comes from. Each value that goes
// through it has an address, to which the program or the page subscribes.
package page

import (
	"crypto/rand"
	_ "embed"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

//go:embed page.js
var script string

const (
	target    = "gonb_comm" // of the comms that the script opens
	openAck   = "#comm_open_ack"
	ready     = "#ready"               // says that the page hears us
	pageTime  = 3 * time.Second        // for a page to say so
	scriptFor = 500 * time.Millisecond // that the script stays in the output
)

// A Bridge carries values between one program and pages.
type Bridge struct {
	kernel, session string
	deliver         func(address string, value any)
	mu              sync.Mutex
	subscribed      map[string]bool   // addresses that the program wants to hear of
	comms           map[string]string // comms by page
	ready           map[string]bool   // comms whose page hears us
	out             jupyter.Out       // of the cell that spoke last
	waiting         []any             // data for the first page
	displays        map[string]bool   // IDs of displays that are there
	scripts         struct {          // the display of package dom's scripts
		out  jupyter.Out
		name string
	}
}

// New returns a bridge for the kernel of a Jupyter connection file. Values for the program go to deliver, one at a time and in
// order; each is as encoding/json reads it.
func New(connectionFile string, deliver func(address string, value any)) *Bridge {
	kernel := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(connectionFile), "kernel-"), ".json")
	return &Bridge{kernel: kernel, session: rand.Text(), deliver: deliver, subscribed: map[string]bool{},
		comms: map[string]string{}, ready: map[string]bool{}, displays: map[string]bool{}}
}

// Takes takes what the program sends in a cell, if it is for comms and not to be displayed. It leaves gonbui's Sync to the
// caller.
func (b *Bridge) Takes(d *protocol.DisplayData, out jupyter.Out) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, isValue := d.Data[protocol.MIMECommValue].(protocol.CommValue)
	s, isSubscription := d.Data[protocol.MIMECommSubscribe].(protocol.CommSubscription)
	switch {
	case isValue:
		b.value(v, out)
	case isSubscription:
		b.subscribe(s, out)
	}
	return isValue || isSubscription
}

// Place returns the name under which the front end knows a display that gonbui shows in a cell, and whether it is there
// already. Package dom runs all its scripts in one display, which must be another one in each cell: the front end runs a
// script in every place of a display, and may have lost earlier ones.
func (b *Bridge) Place(id string, out jupyter.Out) (name string, update bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !strings.HasPrefix(id, "gonb_transient_js_") {
		update = b.displays[id]
		b.displays[id] = true
		return id, update
	}
	if update = b.scripts.out == out; !update {
		b.scripts.out, b.scripts.name = out, id+rand.Text()
	}
	return b.scripts.name, update
}

// value takes a value that the program sends.
func (b *Bridge) value(v protocol.CommValue, out jupyter.Out) {
	b.open(out)
	switch {
	case v.Address == protocol.GonbuiStartAddress:
	case v.Request:
		b.send(map[string]any{"address": v.Address, "read_request": true})
	default:
		b.send(map[string]any{"address": v.Address, "value": v.Value})
	}
}

// subscribe takes a subscription of the program, or its end. Where no page answers, as in a program that runs notebooks, the
// program gets 0 from the address, because gonbui's widgets wait for their first value.
func (b *Bridge) subscribe(s protocol.CommSubscription, out jupyter.Out) {
	if s.Unsubscribe {
		delete(b.subscribed, s.Address)
		return
	}
	b.open(out)
	b.subscribed[s.Address] = true
	time.AfterFunc(pageTime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.ready) == 0 {
			b.pass(s.Address, 0)
		}
	})
}

// Comm takes a message of a page; see [jupyter.Engine].
func (b *Bridge) Comm(m jupyter.Comm, out jupyter.Out) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, _ := m.Data.(map[string]any)
	switch m.Kind {
	case jupyter.CommOpen:
		page, _ := data["page"].(string)
		if m.Target != target || data["session"] != b.session {
			return errors.New("not a page of this kernel")
		}
		delete(b.ready, b.comms[page])
		b.comms[page] = m.ID
		out.Comm(jupyter.Comm{Kind: jupyter.CommMessage, ID: m.ID, Data: map[string]any{"address": openAck, "value": true}})
	case jupyter.CommClose:
		delete(b.ready, m.ID)
	case jupyter.CommMessage:
		address, _ := data["address"].(string)
		if address != ready {
			b.pass(address, data["value"])
			break
		}
		b.ready[m.ID] = true
		for _, data := range b.waiting {
			b.send(data)
		}
		b.waiting = nil
	}
	return nil
}

// pass gives the program a value if it wants to hear of the address.
func (b *Bridge) pass(address string, value any) {
	if b.subscribed[address] {
		b.deliver(address, value)
	}
}

// send sends data to every page, or keeps them for the first.
func (b *Bridge) send(data any) {
	if len(b.ready) == 0 && len(b.waiting) < 1000 {
		b.waiting = append(b.waiting, data)
	}
	for id := range b.ready {
		b.out.Comm(jupyter.Comm{Kind: jupyter.CommMessage, ID: id, Data: data})
	}
}

// open runs the script once in every cell: the page may have been loaded again since the last one.
func (b *Bridge) open(out jupyter.Out) {
	if b.out == out {
		return
	}
	b.out = out
	d := jupyter.Display{ID: "page " + rand.Text(), Data: map[string]any{
		"text/html": "<script>" + strings.NewReplacer("KERNEL", b.kernel, "SESSION", b.session).Replace(script) + "</script>"}}
	out.Display(d)
	time.AfterFunc(scriptFor, func() { // it is not for the notebook's file
		d.Data, d.Update = map[string]any{"text/html": ""}, true
		out.Display(d)
	})
}

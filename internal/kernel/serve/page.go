package main

import (
	"crypto/rand"
	_ "embed"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

//go:embed page.js
var script string

const (
	openAck   = "#comm_open_ack"
	ready     = "#ready"               // says that the page hears us
	pageTime  = 3 * time.Second        // for a page to say so
	scriptFor = 500 * time.Millisecond // that the script stays in the output
)

// A bridge carries values between the host and the pages that show a notebook: gonbui's comms, and with them its widgets. A
// script in the page opens a comm to the kernel, over the Jupyter server that the page comes from. Each value that goes through
// it has an address, to which the program or the page subscribes.
type bridge struct {
	session    string // by which pages know us
	html       string // the script
	deliver    func(address string, value any)
	mu         sync.Mutex
	subscribed map[string]bool  // addresses that the program wants to hear of; gonbui hangs when it hears of others
	pages      map[string]bool  // that hear us, by their comms
	cell       *request         // that spoke last
	waiting    []map[string]any // for the first page
	displays   map[string]bool  // IDs of displays that are there
	scriptsIn  *request         // the cell where package dom's scripts are displayed
	scripts    string           // and the ID of their display
}

// newBridge returns a bridge for the kernel of a Jupyter connection file. Values for the program go to deliver, one at a time and in
// order; each is as encoding/json reads it.
func newBridge(connectionFile string, deliver func(address string, value any)) *bridge {
	kernel := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(connectionFile), "kernel-"), ".json")
	session := rand.Text()
	html := "<script>" + strings.NewReplacer("KERNEL", kernel, "SESSION", session).Replace(script) + "</script>"
	return &bridge{session: session, html: html, deliver: deliver,
		subscribed: map[string]bool{}, pages: map[string]bool{}, displays: map[string]bool{}}
}

// forget forgets what a program has subscribed to that has ended.
func (b *bridge) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.subscribed)
}

// takes takes what the program sends in a cell, if it is for comms and not to be displayed. It leaves gonbui's Sync to the
// caller.
func (b *bridge) takes(d *protocol.DisplayData, r *request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	value, isValue := d.Data[protocol.MIMECommValue].(protocol.CommValue)
	s, isSubscription := d.Data[protocol.MIMECommSubscribe].(protocol.CommSubscription)
	if isValue || isSubscription && !s.Unsubscribe {
		b.open(r)
	}
	switch {
	case isSubscription:
		b.subscribed[s.Address] = !s.Unsubscribe
		time.AfterFunc(pageTime, func() { b.begin(s.Address) })
	case value.Request:
		b.send(map[string]any{"address": value.Address, "read_request": true})
	case isValue && value.Address != protocol.GonbuiStartAddress:
		b.send(map[string]any{"address": value.Address, "value": value.Value})
	}
	return isValue || isSubscription
}

// begin gives the program 0 from an address if no page has answered, as in a program that runs notebooks: gonbui's widgets
// wait for their first value.
func (b *bridge) begin(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pages) == 0 && b.subscribed[address] {
		b.deliver(address, 0)
	}
}

// place returns the name under which the front end knows a display that gonbui shows in a cell, and whether it is there
// already. Package dom runs all its scripts in one display, which must be another one in each cell: the front end runs a
// script in every place of a display, and may have lost earlier ones.
func (b *bridge) place(id string, r *request) (name string, update bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if strings.HasPrefix(id, "gonb_transient_js_") {
		if b.scriptsIn != r {
			b.scriptsIn, b.scripts = r, id+rand.Text()
		}
		id = b.scripts
	}
	update = b.displays[id]
	b.displays[id] = true
	return id, update
}

// comm takes a message of a page; see [engine].
func (b *bridge) comm(r *request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	kind, id, data := r.header.Type, r.content.Comm, r.content.Data
	address, _ := data["address"].(string)
	switch {
	case kind == "comm_open" && data["session"] == b.session:
		r.tell(id, map[string]any{"address": openAck, "value": true})
	case address == ready && data["value"] == b.session:
		b.pages[id] = true
		for _, early := range b.waiting {
			b.send(early)
		}
		b.waiting = nil
	case !b.pages[id]:
		return errors.New("not a page of this kernel")
	case kind == "comm_close":
		delete(b.pages, id)
	case b.subscribed[address]:
		b.deliver(address, data["value"])
	}
	return nil
}

// send sends data to every page, or keeps them for the first.
func (b *bridge) send(data map[string]any) {
	if len(b.pages) == 0 && len(b.waiting) < 1000 {
		b.waiting = append(b.waiting, data)
	}
	for id := range b.pages {
		b.cell.tell(id, data)
	}
}

// open runs the script once in every cell: the page may have been loaded again since the last one.
func (b *bridge) open(r *request) {
	if b.cell == r {
		return
	}
	b.cell = r
	id := "page " + rand.Text()
	show := func(kind, html string) {
		r.display(kind, &protocol.DisplayData{DisplayID: id, Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: html}})
	}
	show("display_data", b.html)
	time.AfterFunc(scriptFor, func() { show("update_display_data", "") }) // it is not for the notebook's file
}

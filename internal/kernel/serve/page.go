package main

import (
	"crypto/rand"
	_ "embed"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

//go:embed page.js
var script string

const (
	openAck   = "#comm_open_ack"
	ready     = "#ready"               // says that the page hears us
	pageTime  = 3 * time.Second        // for a page to say so
	scriptFor = 500 * time.Millisecond // that the script stays in the output
)

// A bridge carries values between the host and the pages that show a notebook: gonbui's comms, and
// with them its widgets. A script in each page opens a comm to the kernel, over the Jupyter server
// that the page comes from: the same one for all, which hear all that is said. Each value that goes
// through it has an address, to which the program or the page subscribes.
type bridge struct {
	session    string // names the comm
	html       string // the script
	deliver    func(address string, value any)
	mu         sync.Mutex
	subscribed map[string]bool // addresses that the program wants to hear of; gonbui hangs when it hears of others
	heard      bool            // a page hears us
	cell       *request        // that spoke last
	waiting    []fields        // for the first page
	begun      map[string]bool // addresses that were given their first value, or will be
	displays   map[string]bool // IDs of displays that are there
}

// newBridge returns a bridge for the kernel of a Jupyter connection file. Values for the program go
// to deliver, one at a time and in order; each is as encoding/json reads it.
func newBridge(connectionFile string, deliver func(address string, value any)) *bridge {
	kernel := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(connectionFile), "kernel-"), ".json")
	session := rand.Text()
	html := "<script>" + strings.NewReplacer("KERNEL", kernel, "SESSION", session).Replace(script) + "</script>"
	return &bridge{session: session, html: html, deliver: deliver, subscribed: map[string]bool{}, begun: map[string]bool{},
		displays: map[string]bool{}}
}

// forget forgets what a program has subscribed to that has ended.
func (b *bridge) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.subscribed)
	clear(b.begun)
}

// show shows what the program sends in a cell: in the cell or, if it is for comms, in pages.
func (b *bridge) show(d *protocol.DisplayData, r *request) {
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
		if !s.Unsubscribe && !b.begun[s.Address] {
			b.begun[s.Address] = true
			time.AfterFunc(pageTime, func() { b.begin(s.Address) })
		}
	case value.Request:
		b.send(fields{"address": value.Address, "read_request": true})
	case value.Address == protocol.GonbuiStartAddress:
	case isValue:
		b.send(fields{"address": value.Address, "value": value.Value})
	default:
		b.display(d, r)
	}
}

// begin gives the program 0 from an address if no page has answered, as in a program that runs
// notebooks: gonbui's widgets wait for their first value. Nobody gets a second one that no page has
// sent.
func (b *bridge) begin(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.heard && b.subscribed[address] {
		b.deliver(address, 0)
	}
}

// display shows rich output, in the place of an earlier one of the same name. Package dom runs all
// its scripts in one display, which must be another one in each cell: the front end runs a script
// in every place of a display, and may have lost earlier ones.
func (b *bridge) display(d *protocol.DisplayData, r *request) {
	kind := "display_data"
	if d.Metadata[rt.Result] == true {
		kind, d.Metadata = "execute_result", nil
	}
	if strings.HasPrefix(d.DisplayID, "gonb_transient_js_") {
		d.DisplayID += r.header.ID
	}
	if b.displays[d.DisplayID] {
		kind = "update_display_data"
	}
	b.displays[d.DisplayID] = d.DisplayID != ""
	r.display(kind, d)
}

// comm takes a message of a page. A comm of others, as of a page of an earlier kernel, is closed.
func (b *bridge) comm(r *request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	address, _ := r.content.Data["address"].(string)
	switch {
	case r.content.Comm != b.session:
		r.publish("comm_close", fields{"comm_id": r.content.Comm, "data": fields{}})
	case r.header.Type == "comm_open":
		b.tell(r, fields{"address": openAck})
	case address == ready:
		b.heard = true
		for _, early := range b.waiting {
			b.send(early)
		}
		b.waiting = nil
	case b.subscribed[address]:
		b.deliver(address, r.content.Data["value"])
	}
}

// send sends data to the pages, or keeps them for the first.
func (b *bridge) send(data fields) {
	if b.heard {
		b.tell(b.cell, data)
	} else if len(b.waiting) < 1000 {
		b.waiting = append(b.waiting, data)
	}
}

func (b *bridge) tell(r *request, data fields) {
	r.publish("comm_msg", fields{"comm_id": b.session, "data": data})
}

// open runs the script once in every cell: the page may have been loaded again since the last one.
func (b *bridge) open(r *request) {
	if b.cell == r {
		return
	}
	b.cell = r
	show := func(kind, html string) {
		data := map[protocol.MIMEType]any{protocol.MIMETextHTML: html}
		r.display(kind, &protocol.DisplayData{DisplayID: "page " + r.header.ID, Data: data})
	}
	show("display_data", b.html)
	time.AfterFunc(scriptFor, func() { show("update_display_data", "") }) // it is not for the notebook's file
}

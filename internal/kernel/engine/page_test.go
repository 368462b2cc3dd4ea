package engine

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// shown is the output of a cell.
type shown struct {
	jupyter.Out
	mu   sync.Mutex
	html []string
	sent []string // comms and addresses
}

func (c *shown) Display(_ string, d *protocol.DisplayData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.html = append(c.html, d.Data["text/html"].(string))
}

func (c *shown) Comm(id string, data map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, id+" "+data["address"].(string))
}

func openPage(b *bridge, out jupyter.Out, id string) error {
	return b.comm(jupyter.Comm{Kind: "comm_open", ID: id, Data: map[string]any{"session": b.session}}, out)
}

func say(b *bridge, id, address string, value any) {
	b.comm(jupyter.Comm{Kind: "comm_msg", ID: id, Data: map[string]any{"address": address, "value": value}}, nil)
}

// send sends what a program sends.
func send(t *testing.T, b *bridge, mime protocol.MIMEType, v any, out jupyter.Out) {
	t.Helper()
	if !b.takes(&protocol.DisplayData{Data: map[protocol.MIMEType]any{mime: v}}, out) {
		t.Errorf("%v is not taken", v)
	}
}

func TestDisplays(t *testing.T) {
	b, first, second := newBridge("k.json", nil), &shown{}, &shown{}
	if b.takes(&protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: "x"}}, first) {
		t.Error("HTML is taken")
	}
	names := map[string]bool{}
	for i, test := range []struct {
		id     string
		out    *shown
		update bool
		names  int
	}{
		{"a", first, false, 1}, {"a", first, true, 1}, {"a", second, true, 1}, {"b", second, false, 2},
		{"gonb_transient_js_1", first, false, 3}, {"gonb_transient_js_1", first, true, 3},
		{"gonb_transient_js_1", second, false, 4}, {"gonb_transient_js_1", second, true, 4},
	} {
		name, update := b.place(test.id, test.out)
		if names[name] = true; update != test.update || len(names) != test.names {
			t.Errorf("%d: %s is %s, an update: %t", i, test.id, name, update)
		}
	}
}

func TestBridge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []any
		b := newBridge("/run/kernel-kernel id.json", func(address string, value any) { got = append(got, address, value) })
		first, second := &shown{}, &shown{}
		send(t, b, protocol.MIMECommValue, protocol.CommValue{Address: protocol.GonbuiStartAddress}, first)
		send(t, b, protocol.MIMECommValue, protocol.CommValue{Address: "/early", Value: 1}, first)
		send(t, b, protocol.MIMECommSubscribe, protocol.CommSubscription{Address: "/button"}, first)
		if len(first.html) != 1 || !strings.Contains(first.html[0], "kernel id") || !strings.Contains(first.html[0], b.session) {
			t.Errorf("the script: %.200q", first.html)
		}
		if err := openPage(b, first, "1"); err != nil {
			t.Fatal(err)
		}
		say(b, "1", ready, b.session)
		say(b, "1", "/button", 7.)
		say(b, "1", "/nobody", 7.)
		send(t, b, protocol.MIMECommValue, protocol.CommValue{Address: "/read", Request: true}, second)
		send(t, b, protocol.MIMECommSubscribe, protocol.CommSubscription{Address: "/button", Unsubscribe: true}, second)
		say(b, "1", "/button", 8.)
		time.Sleep(2 * pageTime)
		synctest.Wait()
		if len(first.html) != 2 || first.html[1] != "" {
			t.Errorf("the script stays: %d, %q", len(first.html), first.html[1:])
		}
		if want := []any{"/button", 7.}; !slices.Equal(got, want) {
			t.Errorf("delivered %v, want %v", got, want)
		}
		if got, want := slices.Concat(first.sent, second.sent), []string{"1 " + openAck, "1 /early", "1 /read"}; !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}

		openPage(b, second, "2") // the page, connected again
		say(b, "2", ready, b.session)
		send(t, b, protocol.MIMECommValue, protocol.CommValue{Address: "/x", Value: 1}, second)
		if got := second.sent; len(got) != 4 || got[2] != "1 /x" && got[3] != "1 /x" {
			t.Errorf("sent %q", got)
		}
		got = nil
		b.comm(jupyter.Comm{Kind: "comm_close", ID: "1"}, second)
		send(t, b, protocol.MIMECommSubscribe, protocol.CommSubscription{Address: "/x"}, second)
		for _, m := range []jupyter.Comm{
			{Kind: "comm_open", ID: "3", Data: map[string]any{"session": "old"}}, {Kind: "comm_open", ID: "3"},
			{Kind: "comm_msg", ID: "3", Data: map[string]any{"address": "/x"}}, {Kind: "comm_msg", ID: "1", Data: map[string]any{"address": "/x"}},
		} {
			if b.comm(m, second) == nil || len(got) > 0 {
				t.Errorf("%+v is welcome: %v", m, got)
			}
		}
	})
}

// Widgets wait for a first value, which they get also where there is no page.
func TestNoPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := map[string]any{}
		b := newBridge("k.json", func(address string, value any) { got[address] = value })
		send(t, b, protocol.MIMECommSubscribe, protocol.CommSubscription{Address: "/button"}, &shown{})
		send(t, b, protocol.MIMECommSubscribe, protocol.CommSubscription{Address: "/gone"}, &shown{})
		send(t, b, protocol.MIMECommSubscribe, protocol.CommSubscription{Address: "/gone", Unsubscribe: true}, &shown{})
		time.Sleep(2 * pageTime)
		synctest.Wait()
		if len(got) != 1 || got["/button"] != 0 {
			t.Errorf("delivered %v", got)
		}
	})
}

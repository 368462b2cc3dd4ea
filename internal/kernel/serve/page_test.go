//go:build unix

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// displays runs a cell and lists its displays: whether they are new ones, and their names.
func (s *session) displays(code string) (kinds, names []string) {
	s.t.Helper()
	reply, out := s.client.run(code)
	if reply.str("status") != "ok" {
		s.t.Errorf("%s: %v", code, reply.Content)
	}
	for _, m := range out {
		if transient, ok := m.Content["transient"].(fields); ok {
			name, _ := transient["display_id"].(string)
			kinds, names = append(kinds, m.Type), append(names, name)
		}
	}
	return kinds, names
}

// A display has one name in all cells, but the scripts of package dom have a place of their own in
// each.
func TestDisplays(t *testing.T) {
	s := begin(t)
	const update = "update_display_data"
	if kinds, _ := s.displays(
		"for range 2 {\n\tgonbui.UpdateHtml(\"a\", \"x\")\n}\ngonbui.UpdateHtml(\"b\", \"x\")"); !slices.Equal(kinds,
		[]string{"display_data", update, "display_data"}) {
		t.Errorf("displays: %q", kinds)
	}
	if kinds, _ := s.displays("gonbui.UpdateHtml(\"a\", \"x\")"); !slices.Equal(kinds, []string{update}) {
		t.Errorf("one of an earlier cell: %q", kinds)
	}
	_, first := s.displays("dom.TransientJavascript(\"1\")\ndom.TransientJavascript(\"2\")")
	_, second := s.displays("dom.TransientJavascript(\"3\")")
	switch {
	case len(first) == 0:
		t.Error("len(first) is 0")
	case len(second) == 0:
		t.Error("len(second) is 0")
	case first[0] != first[len(first)-1]:
		t.Errorf("first[0] is %q; want %q", first[0], first[len(first)-1])
	case first[0] == second[0]:
		t.Errorf("first[0] is %q", second[0])
	}
}

// say has a page say something, and returns the answer.
func (s *session) say(kind, page string, data fields) []msg {
	s.t.Helper()
	return s.outputs(s.send(s.shell, kind, "", fields{"comm_id": page, "data": data}))
}

// TestPage is what the script of a page and the widgets of a cell, which waits for them, say to
// each other.
func TestPage(t *testing.T) {
	s := begin(t)
	cell := s.cell("heard := make(chan int, 10)\ncomms.Send(\"/early\", 1)\n" +
		"id := comms.Subscribe(\"/button\", func(_ string, v int) { heard <- v })\n<-heard")
	html := s.until(cell, "display_data").Content["data"].(fields)["text/html"].(string)
	key := regexp.MustCompile(`session = "(\w+)"`).FindStringSubmatch(html)[1]
	s.until(cell, "update_display_data") // the script is not for the notebook's file
	for _, kind := range []string{"comm_open", "comm_msg", "comm_close"} {
		switch got := s.say(kind, "old", nil); {
		case len(got) != 1:
			t.Errorf("%s of another kernel's page: len(got) is %d; want 1", kind, len(got))
		case got[0].Type != "comm_close":
			t.Errorf("%s of another kernel's page: got[0].Type is %q; want %q", kind, got[0].Type, "comm_close")
		case got[0].str("comm_id") != "old":
			t.Errorf("%s of another kernel's page: %v", kind, got)
		}
	}
	switch got := s.say("comm_open", key, nil); {
	case len(got) != 1:
		t.Errorf("a page is not welcome: len(got) is %d; want 1", len(got))
	case got[0].Type != "comm_msg":
		t.Errorf("a page is not welcome: got[0].Type is %q; want %q", got[0].Type, "comm_msg")
	case got[0].str("comm_id") != key:
		t.Errorf("a page is not welcome: %v", got)
	}
	s.send(s.shell, "comm_msg", "", fields{"comm_id": key, "data": fields{"address": ready}})
	if got := s.until(cell, "comm_msg").Content["data"].(fields); got["address"] != "/early" || got["value"] != 1. {
		t.Errorf("the page hears %v", got)
	}
	button := fields{"address": "/button", "value": 7}
	s.say("comm_msg", key, fields{"address": "/nobody", "value": 7})
	s.say("comm_msg", key, button)
	if m := s.reply(s.shells, cell); m.str("status") != "ok" {
		t.Error(m)
	}
	s.say("comm_msg", key, button)
	s.shows("second := <-heard\ncomms.Unsubscribe(id)\nsecond", "7")
	s.say("comm_msg", key, button)
	s.shows("len(heard)", "0")
}

// Where there is no page, a widget that waits for its first value gets 0 once, and who listens then
// hears nothing.
func TestNoPage(t *testing.T) {
	s := begin(t)
	got, err := s.run(
		"heard := make(chan int, 10)\nid := comms.Subscribe(\"/b\", func(_ string, v int) { heard <- v })\nfmt.Println(<-heard)")
	if err != nil || !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("%q, %v", got, expect.Text(err))
	}
	got, err = s.run(
		"comms.Unsubscribe(id)\nid = comms.Subscribe(\"/b\", func(_ string, v int) { heard <- v })\ntime.Sleep(4 * time.Second)\nfmt.Println(len(heard))")
	if err != nil || !strings.HasSuffix(got, "0\n") {
		t.Errorf("%q, %v", got, expect.Text(err))
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// text joins the texts of a stream.
func text(out []msg, name string) string {
	var b strings.Builder
	for _, m := range out {
		if m.Type == "stream" && m.str("name") == name {
			b.WriteString(m.str("text"))
		}
	}
	return b.String()
}

// kinds are the types of messages.
func kinds(out []msg) (k []string) {
	for _, m := range out {
		k = append(k, m.Type)
	}
	return k
}

func TestKernelInfo(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	for _, m := range []msg{c.ask("kernel_info_request", fields{}), c.order("kernel_info_request", fields{})} {
		features, _ := m.Content["supported_features"].([]any)
		language, _ := m.Content["language_info"].(map[string]any)
		if m.str("status") != "ok" || m.str("banner") == "" || language["name"] != "go" ||
			!slices.Contains(features, any("kernel subshells")) {
			t.Errorf("kernel_info_reply %+v", m)
		}
	}
	if err := c.hb.Send(zmq4.NewMsgString("ping")); err != nil {
		t.Fatal(err)
	}
	if m, err := c.hb.Recv(); err != nil || string(m.Bytes()) != "ping" {
		t.Errorf("heartbeat %q, %v", m.Bytes(), expect.Text(err))
	}
}

func TestCell(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	for _, test := range []struct {
		name, code string
		more       fields
		status     string
		kinds      []string
		stdout     string
	}{
		{"text", "print a\nprint b", nil, "ok", []string{"execute_input", "stream", "stream"}, "a\nb\n"},
		{"order", "print a\nwarn b\npicture p\nprint c", nil, "ok",
			[]string{"execute_input", "stream", "stream", "display_data", "stream"}, "a\nc\n"},
		{"number and name", "number", nil, "ok", []string{"execute_input", "stream"}, "3\n"},
		{"value", "value 5", nil, "ok", []string{"execute_input", "execute_result"}, ""},
		{"update", "update p", nil, "ok", []string{"execute_input", "update_display_data"}, ""},
		{"no JSON", "nan\nprint a", nil, "ok", []string{"execute_input", "error", "stream"}, "a\n"},
		{"error", "print a\nfail b", nil, "error", []string{"execute_input", "stream", "error"}, "a\n"},
		{"silent", "print a\nvalue 1\nfail b", fields{"silent": true}, "error", nil, ""},
		{"not stored", "number", fields{"store_history": false}, "ok", nil, "8\n"},
		{"not stored again", "number", fields{"store_history": false}, "ok", nil, "8\n"},
		{"empty", "", nil, "ok", []string{"execute_input"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			reply, out := c.run(test.code, test.more)
			if reply.str("status") != test.status {
				t.Errorf("status %q, want %q", reply.str("status"), test.status)
			}
			if got := kinds(out); test.kinds != nil && !slices.Equal(got, test.kinds) {
				t.Errorf("messages %q, want %q", got, test.kinds)
			}
			if got := text(out, "stdout"); got != test.stdout {
				t.Errorf("stdout %q, want %q", got, test.stdout)
			}
			for _, m := range out {
				if m.Type == "error" && (len(m.Content) != 3 || m.Content["traceback"] == nil) { // as in a notebook's file
					t.Errorf("error %v", m.Content)
				}
			}
		})
	}
}

func TestRichOutput(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	_, out := c.run("value 5\npicture p\nupdate p")
	result, picture, update := out[1].Content, out[2].Content, out[3].Content
	if want := (fields{"text/plain": "5", "image/png": "cG5n", "text/html": "<b>",
		"audio/wav": "d2F2"}); !reflect.DeepEqual(result["data"], want) {
		t.Errorf("data %v, want %v", result["data"], want)
	}
	if result["execution_count"] != 1. {
		t.Errorf("execution_count %v", result["execution_count"])
	}
	name := fields{"display_id": "p"}
	if !reflect.DeepEqual(picture["transient"], name) || !reflect.DeepEqual(update["transient"], name) {
		t.Errorf("transient %v and %v", picture["transient"], update["transient"])
	}
	if want := (fields{"text/plain": "new"}); !reflect.DeepEqual(update["data"], want) {
		t.Errorf("updated to %v", update["data"])
	}
}

func TestErrorAbortsQueue(t *testing.T) {
	for _, stop := range []bool{true, false} {
		t.Run(fmt.Sprint(stop), func(t *testing.T) {
			e := newToy()
			c, _, _ := start(t, e.open)
			first := c.cell("wait\nfail x", fields{"stop_on_error": stop})
			second, third := c.cell("print a"), c.cell("print b")
			c.until(first, "execute_input")
			c.ask("kernel_info_request", fields{}) // by then the cells have arrived
			e.release <- ""
			want := "ok"
			if stop {
				want = "aborted"
			}
			if got := c.reply(c.shells, first).str("status"); got != "error" {
				t.Errorf("stop %t: %s", stop, got)
			}
			for _, id := range []string{second, third} {
				if got := c.reply(c.shells, id).str("status"); got != want {
					t.Errorf("stop %t: the next cell is %s", stop, got)
				}
				c.outputs(id)
			}
			if reply, _ := c.run("print c"); reply.str("status") != "ok" {
				t.Errorf("stop %t: a later cell: %v", stop, reply)
			}
		})
	}
}

// Each expression that comes with a cell is answered, by why it has no value.
// A panic in the kernel's own code is an error of the request, and the kernel goes on.
func TestPanicInARequest(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	for range 2 {
		reply, out := c.run("panic its own")
		switch {
		case reply.str("status") != "error", !strings.Contains(reply.str("evalue"), "panic: its own"):
			t.Errorf("a cell: %v, %v", reply, out)
		case len(out) != 2:
			t.Errorf("a cell: len(out) is %d; want 2", len(out))
		case out[1].Type != "error":
			t.Errorf("a cell: out[1].Type is %q; want %q", out[1].Type, "error")
		}
		for _, kind := range []string{"complete_request", "inspect_request"} {
			if m := c.ask(kind, fields{"code": "panic", "cursor_pos": 5}); m.str("status") != "error" {
				t.Errorf("%s: %v", kind, m)
			}
		}
	}
	if reply, _ := c.run("print on"); reply.str("status") != "ok" {
		t.Errorf("afterwards: %v", reply)
	}
	if m := c.ask("complete_request", fields{"code": "ab", "cursor_pos": 2}); m.str("status") != "ok" {
		t.Errorf("afterwards: %v", m)
	}
}

func TestExpressions(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	reply, _ := c.run("print a", fields{"user_expressions": fields{"one": "1 + 1", "two": "x"}})
	values, _ := reply.Content["user_expressions"].(fields)
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			if v, _ := values[name].(fields); v["status"] != "error" || v["ename"] == nil || v["traceback"] == nil {
				t.Errorf("%s is %v", name, v)
			}
		})
	}
}

// Everything but a cell is answered while a cell runs, and the kernel stays busy for who looks at
// it.
func TestBesideARunningCell(t *testing.T) {
	e := newToy()
	c, _, _ := start(t, e.open)
	cell := c.cell("wait")
	c.until(cell, "execute_input")
	for kind, content := range map[string]fields{
		"kernel_info_request": {}, "comm_info_request": {},
		"complete_request":    {"code": "a b", "cursor_pos": 3},
		"inspect_request":     {"code": "ab", "cursor_pos": 1},
		"is_complete_request": {"code": "f("},
		"history_request":     {"hist_access_type": "tail", "n": 3},
	} {
		id := c.send(c.shell, kind, "", content)
		if m := c.reply(c.shells, id); m.str("status") == "error" {
			t.Errorf("%s: %v", kind, m.Content)
		}
		c.outputs(id)
		if m := c.next(c.pubs); m.Parent != cell || m.str("execution_state") != "busy" {
			t.Errorf("after %s the kernel is %v", kind, m)
		}
	}
	e.release <- "done"
	if m := c.reply(c.shells, cell); m.str("status") != "ok" {
		t.Error(m)
	}
	if got := text(c.outputs(cell), "stdout"); got != "done" {
		t.Errorf("output %q", got)
	}
}

// Cursors count code points, and the engine bytes.
func TestCursors(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	for _, test := range []struct {
		code       string
		cursor     any
		start, end float64
		match      string
	}{
		{"αβ γδ rest", 5, 3, 5, "γδ!"},
		{"𝔘 𝔘x", 4, 2, 4, "𝔘x!"},
		{"x", 99, 0, 1, "x!"},
		{"a b", nil, 2, 3, "b!"},
		{"", 0, 0, 0, "!"},
	} {
		m := c.ask("complete_request", fields{"code": test.code, "cursor_pos": test.cursor})
		matches, _ := m.Content["matches"].([]any)
		switch {
		case m.Content["cursor_start"] != test.start, m.Content["cursor_end"] != test.end:
			t.Errorf("%q at %v: %v", test.code, test.cursor, m.Content)
		case len(matches) != 1:
			t.Errorf("%q at %v: len(matches) is %d; want 1", test.code, test.cursor, len(matches))
		case matches[0] != test.match:
			t.Errorf("%q at %v: matches[0] is %v; want %q", test.code, test.cursor, matches[0], test.match)
		}
	}
	if m := c.ask("complete_request", fields{"code": "bad", "cursor_pos": 1}); m.str("status") != "error" {
		t.Error(m.Content)
	}
	if m := c.ask("inspect_request", fields{"code": "é", "cursor_pos": 1}); m.Content["found"] != true ||
		m.Content["data"].(fields)["text/plain"] != "é" {
		t.Error(m.Content)
	}
	if m := c.ask("inspect_request", fields{"code": "é", "cursor_pos": 0}); m.Content["found"] != false ||
		m.str("status") != "ok" {
		t.Error(m.Content)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	e := newToy()
	c, _, _ := start(t, e.open)
	c.order("interrupt_request", fields{}) // nothing runs
	cell := c.cell("wait")
	behind := c.cell("print a")
	c.until(cell, "execute_input")
	c.ask("kernel_info_request", fields{}) // by then the cells have arrived
	if m := c.order("interrupt_request", fields{}); m.str("status") != "ok" {
		t.Error(m)
	}
	if m := c.reply(c.shells, cell); m.str("status") != "error" || m.str("evalue") != "interrupted" {
		t.Error(m)
	}
	if m := c.reply(c.shells, behind); m.str("status") != "aborted" {
		t.Error(m)
	}

	cell = c.cell("hang")
	c.until(cell, "execute_input")
	c.order("interrupt_request", fields{})
	c.order("interrupt_request", fields{}) // a double click
	select {
	case <-e.forced:
		t.Error("forced at once")
	case <-time.After(1100 * time.Millisecond):
	}
	c.order("interrupt_request", fields{})
	if m := c.reply(c.shells, cell); m.str("status") != "error" {
		t.Error(m)
	}
}

func TestSubshells(t *testing.T) {
	e := newToy()
	c, _, _ := start(t, e.open)
	long := c.cell("wait")
	c.until(long, "execute_input")
	id := c.order("create_subshell_request", fields{}).str("subshell_id")
	if m := c.order("list_subshell_request", fields{}); !reflect.DeepEqual(m.Content["subshell_id"], []any{id}) {
		t.Errorf("the subshells are %v, want %q", m.Content, id)
	}
	reply, out := c.run("print a", fields{"subshell": id})
	if reply.str("status") != "ok" || text(out, "stdout") != "a\n" {
		t.Errorf("%v, %v", reply, out)
	}
	c.run("fail x", fields{"subshell": id}) // which aborts nothing elsewhere

	running, waiting := c.cell("wait", fields{"subshell": id}), c.cell("print a", fields{"subshell": id})
	c.until(running, "execute_input")
	c.ask("kernel_info_request", fields{}) // by then the cells have arrived
	if m := c.order("delete_subshell_request", fields{"subshell_id": id}); m.str("status") != "ok" {
		t.Error(m)
	}
	statuses := map[string]string{}
	for range 2 {
		m := c.next(c.shells)
		statuses[m.Parent] = m.str("status")
	}
	if statuses[running] != "error" || statuses[waiting] != "aborted" {
		t.Errorf("the cells of a deleted subshell: %v", statuses)
	}
	if reply, _ := c.run("print a", fields{"subshell": id}); reply.str("status") != "error" {
		t.Error(reply)
	}
	for _, bad := range []any{id, "", nil} {
		if m := c.order("delete_subshell_request", fields{"subshell_id": bad}); m.str("status") != "error" {
			t.Errorf("%v: %v", bad, m)
		}
	}
	e.release <- "end"
	if m := c.reply(c.shells, long); m.str("status") != "ok" {
		t.Error(m)
	}
}

func TestInput(t *testing.T) {
	c, file, _ := start(t, newToy().open)
	other := dial(t, file, "other")
	for _, test := range []struct {
		code, prompt string
		password     bool
	}{{"ask name?", "name?", false}, {"password ", "", true}} {
		id := c.cell(test.code)
		q := c.next(c.questions)
		switch {
		case q.Type != "input_request":
			t.Errorf("q.Type is %q; want %q", q.Type, "input_request")
		case q.Parent != id:
			t.Errorf("q.Parent is %q; want %q", q.Parent, id)
		case q.str("prompt") != test.prompt, q.Content["password"] != test.password:
			t.Errorf("question %+v", q)
		}
		other.send(other.stdin, "input_reply", "", fields{"value": "wrong"})
		c.send(c.stdin, "input_reply", "", fields{"value": "José"})
		c.reply(c.shells, id)
		if got := text(c.outputs(id), "stdout"); got != "José\n" {
			t.Errorf("read %q", got)
		}
	}
	if _, out := c.run("ask x", fields{"allow_stdin": false}); text(out, "stdout") != "EOF\n" {
		t.Errorf("without input: %v", out)
	}
	id := c.cell("ask x") // stopped while it waits
	c.next(c.questions)
	c.order("interrupt_request", fields{})
	if m := c.reply(c.shells, id); m.str("evalue") != "interrupted" {
		t.Error(m)
	}
	c.send(c.stdin, "input_reply", "", fields{"value": "late"})
	if reply, _ := c.run("print a"); reply.str("status") != "ok" {
		t.Error(reply)
	}
}

// A front end may connect the channel for input after it has sent a cell.
func TestInputConnectedLate(t *testing.T) {
	_, file, _ := start(t, newToy().open)
	c := dialWithoutInput(t, file, "late")
	id := c.cell("ask name?")
	c.until(id, "execute_input")
	c.connect(c.stdin, 3)
	go c.pump(c.stdin, c.questions)
	c.next(c.questions)
	c.send(c.stdin, "input_reply", "", fields{"value": "José"})
	c.reply(c.shells, id)
	if got := text(c.outputs(id), "stdout"); got != "José\n" {
		t.Errorf("read %q", got)
	}
}

// Output of goroutines that outlive their cell belongs to that cell, and input ends with it.
func TestOutputAfterTheCell(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	first := c.cell("later L")
	c.reply(c.shells, first)
	c.run("print b")
	if got := c.until(first, "stream").str("text"); got != "Lfalse\n" {
		t.Errorf("late output %q", got)
	}
}

func TestHistory(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	for _, code := range []string{"value 1", "value 2\n", "print é", "value 1"} {
		c.run(code)
	}
	c.run("print secret", fields{"store_history": false})
	for _, test := range []struct {
		content fields
		want    string
	}{
		{fields{"hist_access_type": "tail", "n": 2}, `[[1,3,"print é"],[1,4,"value 1"]]`},
		{fields{"hist_access_type": "tail", "n": 1, "output": true}, `[[1,4,["value 1",null]]]`},
		{fields{"hist_access_type": "tail", "n": -1}, `[]`},
		{fields{"hist_access_type": "range", "session": 0},
			`[[1,1,"value 1"],[1,2,"value 2\n"],[1,3,"print é"],[1,4,"value 1"]]`},
	} {
		got, _ := json.Marshal(c.ask("history_request", test.content).Content["history"])
		if string(got) != test.want {
			t.Errorf("%v: %s, want %s", test.content, got, test.want)
		}
	}
}

func TestShutdown(t *testing.T) {
	e := newToy()
	c, _, ended := start(t, e.open)
	cell := c.cell("wait")
	c.until(cell, "execute_input")
	if m := c.order("shutdown_request", fields{"restart": true}); m.str("status") != "ok" || m.Content["restart"] != true {
		t.Error(m)
	}
	select {
	case err := <-ended:
		if err != nil || e.closed.Load() == 0 {
			t.Errorf("ended with %v; closed %d times", expect.Text(err), e.closed.Load())
		}
	case <-time.After(patience):
		t.Fatal("the kernel runs on")
	}
}

func TestWrongMessages(t *testing.T) {
	c, _, _ := start(t, newToy().open)
	good := frames("x", "kernel_info_request", "", fields{})
	forged := slices.Clone(good)
	forged[5] = []byte(`{"a":1}`)
	unsigned := slices.Clone(good)
	unsigned[1] = nil
	signed := func(i int, text string) [][]byte {
		f := slices.Clone(good)
		f[i] = []byte(text)
		f[1] = []byte(sign(f[2:6]))
		return f
	}
	for _, f := range [][][]byte{forged, unsigned, good[:4], good[1:], {nil}, {[]byte("<IDS|MSG>")}, signed(2, "{"),
		signed(2, "[]"), signed(2, "{}")} {
		for _, s := range []zmq4.Socket{c.shell, c.control, c.stdin} {
			if err := s.SendMulti(zmq4.NewMsgFrom(f...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for kind, content := range map[string]any{
		"execute_request": 5, "complete_request": fields{"code": 5}, "inspect_request": "x", "history_request": []int{1},
		"is_complete_request": 1, "comm_info_request": 1, "delete_subshell_request": fields{"subshell_id": 5},
	} {
		if m := c.ask(kind, content); m.str("status") != "error" || m.Content["traceback"] == nil {
			t.Errorf("%s: %v", kind, m.Content)
		}
	}
	c.outputs(c.send(c.shell, "comm_msg", "", 7))
	c.outputs(c.send(c.shell, "strange_request", "", fields{}))
	c.outputs(c.send(c.shell, "x", "", fields{}))
	if reply, _ := c.run("print a"); reply.str("status") != "ok" {
		t.Error(reply)
	}
}

// Strangers who connect change nothing.
func TestStrangers(t *testing.T) {
	c, file, _ := start(t, newToy().open)
	ready := meets("DEALER")
	for name, said := range map[string]string{
		"nothing": "", "HTTP": "GET / HTTP/1.1\r\nHost: localhost:1234567890\r\nAccept: */*\r\nX: 0123456789\r\n\r\n",
		"a property that is cut off": greeting + "\x04\x09\x05READY\x02AB",
		"a name that is too long":    greeting + "\x04\x03\xffRE",
		"the largest frame":          greeting + ready + "\x02\x7f\xff\xff\xff\xff\xff\xff\xff",
		"a command":                  greeting + ready + "\x04\x00",
	} {
		for i := range 5 {
			raw, err := net.Dial("unix", filepath.Join(filepath.Dir(file), "s-"+strconv.Itoa(i+1)))
			if err != nil {
				t.Fatal(err)
			}
			raw.Write([]byte(said))
			raw.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			io.Copy(io.Discard, raw)
			raw.Close()
		}
		if reply, _ := c.run("print a"); reply.str("status") != "ok" {
			t.Errorf("after %s: %v", name, reply)
		}
	}
}

func TestConnectionFile(t *testing.T) {
	for name, text := range map[string]string{
		"not there": "", "not JSON": "{", "transport": `{"transport":"udp"}`,
		"port taken": `{"transport":"ipc","ip":"/nowhere/at/all"}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.json")
			if text != "" {
				os.WriteFile(file, []byte(text), 0o600)
			}
			if err := serve(t.Context(), file, newToy().open); err == nil {
				t.Error("it serves")
			}
		})
	}
}

// kernelProcess starts a kernel of its own process and connects to it.
func kernelProcess(t *testing.T) (*exec.Cmd, *client) {
	t.Helper()
	file := connectionFile(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TOY_KERNEL="+file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, dial(t, file, "front")
}

func TestSignals(t *testing.T) {
	cmd, c := kernelProcess(t)
	cell := c.cell("wait")
	c.until(cell, "execute_input")
	cmd.Process.Signal(os.Interrupt)
	if m := c.reply(c.shells, cell); m.str("evalue") != "interrupted" {
		t.Error(m)
	}
	cmd.Process.Signal(os.Interrupt) // nothing runs
	reply, _ := c.run("print a")
	if reply.str("status") == "aborted" { // the cell was there before the signal
		reply, _ = c.run("print a")
	}
	if reply.str("status") != "ok" {
		t.Error(reply)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A subscriber that no longer reads is dropped, and neither the kernel nor the others miss
// anything.
func TestStuckSubscriber(t *testing.T) {
	t.Parallel()
	c, file, _ := start(t, newToy().open)
	raw, err := net.Dial("unix", filepath.Join(filepath.Dir(file), "s-2"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	stuck, err := zmq4.Open(raw, null.Security(), zmq4.Sub, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := stuck.SendMsg(zmq4.NewMsg([]byte("\x01"))); err != nil {
		t.Fatal(err)
	}
	if m, err := stuck.RecvMsg(); err != nil { // its welcome
		t.Fatal(m, err)
	}
	if _, out := c.run("flood 300000"); strings.Count(text(out, "stdout"), "\n") != 300000 {
		t.Error("lines are missing")
	}
}

// A kernel whose Jupyter server is killed ends.
func TestParentEnds(t *testing.T) {
	file := connectionFile(t)
	server := exec.Command("sh", "-c", `JPY_PARENT_PID=$$ TOY_KERNEL="$1" "$2" & echo $!; wait`, "sh", file, os.Args[0])
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatal(err)
	}
	c := dial(t, file, "front")
	c.until(c.cell("wait"), "execute_input")
	server.Process.Kill()
	for range 100 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			server.Wait()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the kernel runs on")
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(status), ") Z ")
}

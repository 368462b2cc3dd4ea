package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

const (
	key      = "a secret"
	patience = 20 * time.Second
)

// msg is a message as a front end reads it.
type msg struct {
	Type    string
	Parent  string // the id of the request
	Content map[string]any
}

func (m msg) str(name string) string { s, _ := m.Content[name].(string); return s }

// client is a front end.
type client struct {
	t                      *testing.T
	metadata               fields // of what it sends
	id, base               string
	shell, control, stdin  zmq4.Socket
	iopub, hb              zmq4.Socket
	shells, controls, pubs chan msg
	questions              chan msg
}

var sequence atomic.Int64

// connectionFile writes a connection file for sockets in a folder.
func connectionFile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jup") // short, as the names of sockets must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "c.json")
	text := fmt.Sprintf(
		`{"transport":"ipc","ip":%q,"key":%q,"signature_scheme":"hmac-sha256","shell_port":1,"iopub_port":2,"stdin_port":3,"control_port":4,"hb_port":5}`, filepath.Join(dir, "s"), key)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// start serves an engine and connects a client. The returned channel says how the kernel ended.
func start(t *testing.T, open func(*server) (engine, error)) (*client, string, <-chan error) {
	t.Helper()
	file := connectionFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- serve(ctx, file, open)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return dial(t, file, "front"), file, ended
}

// dial connects a client and waits for its welcome.
func dial(t *testing.T, file, id string) *client {
	t.Helper()
	c := dialWithoutInput(t, file, id)
	c.connect(c.stdin, 3)
	go c.pump(c.stdin, c.questions)
	return c
}

func dialWithoutInput(t *testing.T, file, id string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c := &client{t: t, id: id, base: filepath.Join(filepath.Dir(file), "s"), shells: make(chan msg, 10000),
		controls: make(chan msg, 10000), pubs: make(chan msg, 100000), questions: make(chan msg, 100)}
	name := zmq4.WithID(zmq4.SocketIdentity(id))
	retry := zmq4.WithDialerMaxRetries(-1)
	wait := zmq4.WithDialerRetry(10 * time.Millisecond)
	c.shell, c.control, c.stdin = zmq4.NewDealer(ctx, name, retry, wait), zmq4.NewDealer(ctx, name, retry, wait),
		zmq4.NewDealer(ctx, name, retry, wait)
	c.iopub, c.hb = zmq4.NewSub(ctx, retry, wait), zmq4.NewReq(ctx, retry, wait)
	if err := c.iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	c.connect(c.shell, 1)
	c.connect(c.iopub, 2)
	c.connect(c.control, 4)
	c.connect(c.hb, 5)
	go c.pump(c.shell, c.shells)
	go c.pump(c.control, c.controls)
	go c.pump(c.iopub, c.pubs)
	switch m := c.next(c.pubs); {
	case m.Type != "iopub_welcome":
		t.Fatalf("m.Type is %q; want %q", m.Type, "iopub_welcome")
	case m.Parent != "":
		t.Fatalf("m.Parent is %q; want %q", m.Parent, "")
	}
	return c
}

func (c *client) connect(s zmq4.Socket, port int) {
	c.t.Helper()
	if err := s.Dial("ipc://" + c.base + "-" + strconv.Itoa(port)); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { s.Close() })
}

func (c *client) pump(s zmq4.Socket, to chan msg) {
	for {
		raw, err := s.Recv()
		if err != nil {
			return
		}
		m, err := parse(raw.Frames)
		if err != nil {
			c.t.Error(err)
			return
		}
		to <- m
	}
}

func parse(frames [][]byte) (m msg, err error) {
	for i, f := range frames {
		if string(f) != "<IDS|MSG>" {
			continue
		}
		if got, want := string(frames[i+1]), sign(frames[i+2:i+6]); got != want {
			return m, fmt.Errorf("signature is %s, want %s", got, want)
		}
		var head, parent struct {
			ID   string `json:"msg_id"`
			Type string `json:"msg_type"`
		}
		for j, v := range []any{&head, &parent, new(fields), &m.Content} {
			if err := json.Unmarshal(frames[i+2+j], v); err != nil {
				return m, err
			}
		}
		m.Type, m.Parent = head.Type, parent.ID
		return m, nil
	}
	return m, fmt.Errorf("no message: %q", frames)
}

func sign(parts [][]byte) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// frames makes a signed message.
func frames(id, kind, subshell string, content any, metadata ...fields) [][]byte {
	head := map[string]any{"msg_id": id, "msg_type": kind, "session": "s", "username": "u", "version": "5.5",
		"date": "2026-01-01T00:00:00Z"}
	if subshell != "" {
		head["subshell_id"] = subshell
	}
	h, _ := json.Marshal(head)
	b, _ := json.Marshal(content)
	m := []byte("{}")
	for _, one := range metadata {
		m, _ = json.Marshal(one)
	}
	parts := [][]byte{h, []byte("{}"), m, b}
	return append([][]byte{[]byte("<IDS|MSG>"), []byte(sign(parts))}, parts...)
}

func (c *client) send(s zmq4.Socket, kind, subshell string, content any) string {
	c.t.Helper()
	id := fmt.Sprint(kind, sequence.Add(1))
	if err := s.SendMulti(zmq4.NewMsgFrom(frames(id, kind, subshell, content, c.metadata)...)); err != nil {
		c.t.Fatal(err)
	}
	return id
}

// cell sends a cell.
func (c *client) cell(code string, more ...fields) string {
	c.t.Helper()
	content, subshell := fields{"code": code, "silent": false, "store_history": true, "allow_stdin": true,
		"stop_on_error": true}, ""
	for _, m := range more {
		for k, v := range m {
			if k == "subshell" {
				subshell = v.(string)
				continue
			}
			content[k] = v
		}
	}
	return c.send(c.shell, "execute_request", subshell, content)
}

func (c *client) next(from chan msg) msg {
	c.t.Helper()
	select {
	case m := <-from:
		return m
	case <-time.After(patience):
		c.t.Fatal("no message")
		return msg{}
	}
}

// reply waits for the reply to a request and drops the replies to others.
func (c *client) reply(from chan msg, id string) msg {
	c.t.Helper()
	for {
		if m := c.next(from); m.Parent == id {
			return m
		}
	}
}

// ask sends a request on the shell channel and returns the reply.
func (c *client) ask(kind string, content any) msg {
	c.t.Helper()
	return c.reply(c.shells, c.send(c.shell, kind, "", content))
}

// order sends a request on the control channel and returns the reply.
func (c *client) order(kind string, content any) msg {
	c.t.Helper()
	return c.reply(c.controls, c.send(c.control, kind, "", content))
}

// outputs returns what a request published, without its status.
func (c *client) outputs(id string) (all []msg) {
	c.t.Helper()
	for {
		m := c.next(c.pubs)
		if m.Parent != id {
			continue
		}
		if m.Type != "status" {
			all = append(all, m)
		} else if m.str("execution_state") == "idle" {
			return all
		}
	}
}

// run runs a cell and returns its reply and output.
func (c *client) run(code string, more ...fields) (reply msg, out []msg) {
	c.t.Helper()
	id := c.cell(code, more...)
	reply = c.reply(c.shells, id)
	return reply, c.outputs(id)
}

// until waits for a message that a request publishes.
func (c *client) until(id, kind string) msg {
	c.t.Helper()
	for {
		if m := c.next(c.pubs); m.Parent == id && m.Type == kind {
			return m
		}
	}
}

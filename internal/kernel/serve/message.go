package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

const (
	protocolVersion = "5.5"
	delimiter       = "<IDS|MSG>" // ends the routing prefix of a message
)

// fields are the content of a message that we send.
type fields = map[string]any

// A request is a message of a front end. What it causes, such as the output of a cell, is published by it: also by several
// goroutines, and when the cell has ended, since front ends still show it below that cell.
type request struct {
	server *server
	peer   *peer
	prefix [][]byte
	parent json.RawMessage // its header, the parent of what it causes
	header struct {
		ID       string `json:"msg_id"`
		Type     string `json:"msg_type"`
		Subshell string `json:"subshell_id"`
	}
	content content

	shell       *shell // of a cell, as all that follows
	ctx         context.Context
	ended       chan struct{} // closed when it has
	number      int
	interrupted time.Time
}

// content has what requests of every kind may say.
type content struct {
	Code        string
	Silent      bool
	Store       bool           `json:"store_history"`
	Stdin       bool           `json:"allow_stdin"`
	Stop        bool           `json:"stop_on_error"`
	Expressions map[string]any `json:"user_expressions"`
	Cursor      int            `json:"cursor_pos"` // counts code points
	N           int            // of the history's lines
	Output      bool
	Comm        string `json:"comm_id"`
	Data        fields
	Value       string // that the user has put in
	Restart     bool
	Subshell    string `json:"subshell_id"`
}

// sign returns the signature of the parts of a message. Without a key, messages are not signed.
func (s *server) sign(parts [][]byte) []byte {
	if s.Key == "" {
		return []byte{}
	}
	h := hmac.New(sha256.New, []byte(s.Key))
	for _, p := range parts {
		h.Write(p)
	}
	return hex.AppendEncode(nil, h.Sum(nil))
}

// read reads a message. A request with an error has a content that can't be read.
func (s *server) read(p *peer, frames [][]byte) (*request, error) {
	i := slices.IndexFunc(frames, func(f []byte) bool { return string(f) == delimiter })
	if i < 0 || len(frames) < i+6 {
		return nil, errors.New("not a message of the protocol")
	}
	parts := frames[i+2 : i+6]
	if !hmac.Equal(frames[i+1], s.sign(parts)) {
		return nil, errors.New("wrong signature")
	}
	r := &request{server: s, peer: p, prefix: frames[:i], parent: parts[0]}
	r.content = content{Store: true, Stop: true, Cursor: math.MaxInt, N: math.MaxInt}
	if err := json.Unmarshal(r.parent, &r.header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := json.Unmarshal(parts[3], &r.content); err != nil {
		return r, fmt.Errorf("%s: %w", r.header.Type, err)
	}
	r.content.Store = r.content.Store && !r.content.Silent
	return r, nil
}

// write returns the frames of a message. Where a cell has put a value into it that JSON can't have, it tells that instead.
func (s *server) write(prefix [][]byte, kind string, parent json.RawMessage, content fields) [][]byte {
	text, err := json.Marshal(content)
	if err != nil {
		return s.write(prefix, "error", parent, problem(err))
	}
	head, _ := json.Marshal(fields{"msg_id": rand.Text(), "session": sessionID, "username": "kernel",
		"date": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), "msg_type": kind, "version": protocolVersion})
	parts := [][]byte{head, parent, []byte("{}"), text}
	return slices.Concat(prefix, [][]byte{[]byte(delimiter), s.sign(parts)}, parts)
}

// sessionID names this process in what it sends.
var sessionID = rand.Text()

// reply answers the request, if it wants a reply.
func (r *request) reply(content fields) {
	if kind, ok := strings.CutSuffix(r.header.Type, "request"); ok {
		r.peer.send(r.server.write(r.prefix, kind+"reply", r.parent, withStatus(content))...)
	}
}

// withStatus is the content of a reply.
func withStatus(content fields) fields {
	reply := fields{"status": "ok"}
	if content["ename"] != nil {
		reply["status"] = "error"
	}
	maps.Copy(reply, content)
	return reply
}

// publish tells all front ends. It returns when the system has the message for each of them.
func (r *request) publish(kind string, content fields) {
	frames := r.server.write([][]byte{[]byte(kind)}, kind, r.parent, content)
	r.server.subscribers.Range(func(p, _ any) bool {
		p.(*peer).send(frames...)
		return true
	})
}

// problem is the content of a message or a reply that tells of an error.
func problem(err error) fields {
	lines := strings.Split(err.Error(), "\n")
	return fields{"ename": "Error", "evalue": lines[0], "traceback": lines}
}

// The library's own sockets queue what they publish, so that nothing can be flushed, and hide subscriptions, so that
// nobody can be welcomed. We take its connections alone, and serve them ourselves.

// sendTime is how long a front end has to take a message; else it is dropped and may connect again.
const sendTime = 5 * time.Second

// A peer is one connection of a front end.
type peer struct {
	net.Conn
	zmq      *zmq4.Conn
	identity string      // the same for all connections of a front end
	lines    chan string // that the user has put in
	mu       sync.Mutex
}

// listen serves who connects to the ports of the connection file.
func (s *server) listen() error {
	return errors.Join(s.accept(s.IOPub, zmq4.XPub, s.subscribe), s.accept(s.Stdin, zmq4.Router, s.receive),
		s.accept(s.Control, zmq4.Router, s.receive), s.accept(s.Shell, zmq4.Router, s.receive),
		s.accept(s.Heartbeat, zmq4.Rep, func(p *peer, frames [][]byte) { p.send(frames...) }))
}

func (s *server) accept(port int, kind zmq4.SocketType, receive func(p *peer, frames [][]byte)) error {
	network, address := s.Transport, net.JoinHostPort(strings.TrimPrefix(s.IP, "*"), strconv.Itoa(port))
	if network == "ipc" {
		network, address = "unix", s.IP+"-"+strconv.Itoa(port)
		os.Remove(address) // of a kernel that was killed
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	context.AfterFunc(s.ctx, func() { l.Close() })
	go func() {
		for s.ctx.Err() == nil {
			if c, err := l.Accept(); err == nil {
				go s.serve(&peer{Conn: c, lines: make(chan string, 1)}, port, kind, receive)
			} else {
				time.Sleep(100 * time.Millisecond) // too many open files, for now
			}
		}
	}()
	return nil
}

// serve hands on what a peer says. The library panics over some of what anybody who can connect could send.
func (s *server) serve(p *peer, port int, kind zmq4.SocketType, receive func(p *peer, frames [][]byte)) {
	defer func() {
		p.Close()
		s.subscribers.Delete(p)
		s.askers.CompareAndDelete(p.identity, p)
		if err := recover(); err != nil {
			log.Print("kernel: connection dropped: ", err)
		}
	}()
	defer context.AfterFunc(s.ctx, func() { p.Close() })()
	conn, err := zmq4.Open(p.Conn, null.Security(), kind, nil, true, nil)
	if err != nil {
		return
	}
	p.zmq, p.identity = conn, conn.Peer.Meta["Identity"]
	if port == s.Stdin {
		s.askers.Store(p.identity, p)
	}
	for {
		m, err := conn.RecvMsg()
		if err != nil {
			return
		}
		if m.Type == zmq4.UsrMsg {
			receive(p, m.Frames)
		}
	}
}

// send writes a message. When it returns the system has it.
func (p *peer) send(frames ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.SetWriteDeadline(time.Now().Add(sendTime))
	if p.zmq.SendMsg(zmq4.NewMsgFrom(frames...)) != nil {
		p.Close() // half a message may have gone
	}
}

// subscribe welcomes a subscriber, who knows thereby that it misses nothing more. It drops itself what it hasn't asked for.
func (s *server) subscribe(p *peer, frames [][]byte) {
	if topic, ok := strings.CutPrefix(string(frames[0]), "\x01"); ok {
		s.subscribers.Store(p, true)
		p.send(s.write([][]byte{[]byte(topic)}, "iopub_welcome", []byte("{}"), fields{"subscription": topic})...)
	}
}

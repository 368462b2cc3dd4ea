package main

import (
	"context"
	"errors"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

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

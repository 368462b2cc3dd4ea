package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// The library's own sockets queue what they publish for all subscribers together, and hide
// subscriptions, so that nobody can be welcomed. We take its connections alone, and serve them
// ourselves.

const (
	handshakeTime = 10 * time.Second // for all of it
	maxPeers      = 128              // of a port; a front end has one connection to each
	sendTime      = 5 * time.Second  // a front end has so long to take a message, and
	sendRate      = 1 << 20          // a second more for each so many bytes; else it is dropped and may connect again
)

// A peer is one connection of a front end.
type peer struct {
	bounded
	door     *door
	zmq      *zmq4.Conn
	identity string      // the same for all connections of a front end
	lines    chan string // that the user has put in
	trust    atomic.Int32
	mu       sync.Mutex // held while a message is sent

	box outbox // of a subscriber
}

// Degrees to which a peer is known. If a port is full, a peer that is known less makes room for a
// new one.
const (
	met   = 1 + iota // it has ended its handshake
	known            // it has signed a message, subscribed, or asked for a heartbeat
)

// door is a port with those who have connected.
type door struct {
	mu     sync.Mutex
	inside []*peer // the oldest first
	shut   bool
}

// enter lets a peer in, in the place of one that is known less if need be.
func (d *door) enter(p *peer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.inside) >= maxPeers {
		least := slices.MinFunc(d.inside, func(a, b *peer) int { return cmp.Compare(a.trust.Load(), b.trust.Load()) })
		if least.trust.Load() == known {
			log.Print("kernel: connection refused: there are ", maxPeers)
			return false
		}
		least.Close()
		d.remove(least)
	}
	d.inside = append(d.inside, p)
	return !d.shut
}

func (d *door) remove(p *peer) {
	d.inside = slices.DeleteFunc(d.inside, func(x *peer) bool { return x == p })
}

func (d *door) leave(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(p)
}

// close sends all away.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	for _, p := range d.inside {
		p.Close()
	}
}

// listen serves who connects to the ports of the connection file.
func (s *server) listen() error {
	heartbeat := func(p *peer, frames [][]byte) {
		p.trust.Store(known)
		p.send(frames...)
	}
	return errors.Join(s.accept(s.IOPub, zmq4.XPub, s.subscribe), s.accept(s.Stdin, zmq4.Router, s.receive),
		s.accept(s.Control, zmq4.Router, s.receive), s.accept(s.Shell, zmq4.Router, s.receive),
		s.accept(s.Heartbeat, zmq4.Rep, heartbeat))
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
	d := new(door)
	s.doors = append(s.doors, d)
	go func() {
		for s.ctx.Err() == nil {
			c, err := l.Accept()
			if err != nil {
				time.Sleep(100 * time.Millisecond) // too many open files, for now
				continue
			}
			p := &peer{bounded: bounded{Conn: c, all: &s.arriving}, door: d, lines: make(chan string, 1)}
			p.SetDeadline(time.Now().Add(handshakeTime))
			if !d.enter(p) {
				p.Close()
				continue
			}
			go s.serve(p, port, kind, receive)
		}
	}()
	return nil
}

// serve serves a peer until it goes. The library panics over some of what anybody who can connect
// could send.
func (s *server) serve(p *peer, port int, kind zmq4.SocketType, receive func(p *peer, frames [][]byte)) {
	err := recovered(func() error { return s.hear(p, port, kind, receive) })
	p.Close()
	p.door.leave(p)
	s.unsubscribe(p)
	s.askers.CompareAndDelete(p.identity, p)
	if errors.As(err, new(panicked)) || errors.As(err, new(tooLong)) {
		log.Print("kernel: connection dropped: ", err)
	}
}

// hear hands on what a peer says, until it goes or what it says is not ZeroMQ.
func (s *server) hear(p *peer, port int, kind zmq4.SocketType, receive func(p *peer, frames [][]byte)) error {
	conn, err := zmq4.Open(p, null.Security(), kind, nil, true, nil)
	if err != nil {
		return err
	}
	p.zmq, p.identity = conn, conn.Peer.Meta["Identity"]
	p.SetDeadline(time.Time{})
	p.open(kind == zmq4.Router)
	p.trust.Store(met)
	if port == s.Stdin {
		s.askers.Store(p.identity, p)
	}
	for {
		m, err := conn.RecvMsg()
		if err != nil {
			return err
		}
		if m.Type == zmq4.UsrMsg {
			receive(p, m.Frames)
		}
	}
}

// send writes a message. When it returns the system has it, or the peer has gone.
func (p *peer) send(frames ...[]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.SetWriteDeadline(time.Now().Add(sendTime + time.Duration(sizeOf(frames))*time.Second/sendRate))
	err := p.zmq.SendMsg(zmq4.NewMsgFrom(frames...))
	if err != nil {
		p.Close() // half a message may have gone
	}
	return err
}

func sizeOf(frames [][]byte) (n int) {
	for _, f := range frames {
		n += len(f)
	}
	return n
}

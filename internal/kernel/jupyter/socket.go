package jupyter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// The library's own sockets queue what they publish, so that nothing can be flushed, and hide subscriptions, so that
// nobody can be welcomed. We take its connections alone, and serve them ourselves.

const (
	helloTime = 10 * time.Second // for a front end to say what it is
	sendTime  = 5 * time.Second  // for a front end to take a message, else it is dropped and may connect again
)

// listen opens a port of a connection file.
func (c connection) listen(port int) (net.Listener, error) {
	switch c.Transport {
	case "tcp":
		return net.Listen("tcp", net.JoinHostPort(strings.TrimPrefix(c.IP, "*"), strconv.Itoa(port)))
	case "ipc":
		path := fmt.Sprintf("%s-%d", c.IP, port)
		os.Remove(path) // of a kernel that was killed
		return net.Listen("unix", path)
	}
	return nil, fmt.Errorf("transport is %q; want tcp or ipc", c.Transport)
}

// accept serves who connects to a port.
func (s *server) accept(l net.Listener, port int, kind zmq4.SocketType) {
	for {
		switch c, err := l.Accept(); {
		case err == nil:
			go s.serve(&peer{Conn: c, w: c, port: port, lines: make(chan string, 1)}, kind)
		case errors.Is(err, net.ErrClosed):
			return
		default: // too many open files, for now
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// A peer is one connection of a front end.
type peer struct {
	net.Conn
	w          io.Writer // of the connection: keeps the pieces of a message together, once the greeting is done
	port       int
	zmq        *zmq4.Conn
	identity   string // the same for all connections of a front end
	mu         sync.Mutex
	buf        *bufio.Writer
	subscribed atomic.Bool
	lines      chan string // that the user has put in
}

func (p *peer) Write(b []byte) (int, error) { return p.w.Write(b) }

// serve hands on what a peer says. The library panics over some of what anybody who can connect could send.
func (s *server) serve(p *peer, kind zmq4.SocketType) {
	defer func() {
		p.Close()
		s.peers.Delete(p)
		if err := recover(); err != nil {
			log.Print("kernel: connection dropped: ", err)
		}
	}()
	defer context.AfterFunc(s.ctx, func() { p.Close() })()
	p.SetDeadline(time.Now().Add(helloTime))
	conn, err := zmq4.Open(p, null.Security(), kind, nil, true, nil)
	if err != nil {
		return
	}
	p.SetDeadline(time.Time{})
	p.buf = bufio.NewWriterSize(p.Conn, 1<<16)
	p.w, p.zmq, p.identity = p.buf, conn, conn.Peer.Meta["Identity"]
	s.peers.Store(p, true)
	for {
		m, err := conn.RecvMsg()
		if err != nil {
			return
		}
		if m.Type == zmq4.UsrMsg {
			s.receive(p, m.Frames)
		}
	}
}

// send writes a message. When it returns the system has it.
func (p *peer) send(frames ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.SetWriteDeadline(time.Now().Add(sendTime))
	err := p.zmq.SendMsg(zmq4.NewMsgFrom(frames...))
	if err == nil {
		err = p.buf.Flush()
	}
	if err != nil {
		p.Close() // half a message may have gone
	}
}

// peersAt returns the connections to a port.
func (s *server) peersAt(port int) (peers []*peer) {
	s.peers.Range(func(key, _ any) bool {
		if p := key.(*peer); p.port == port {
			peers = append(peers, p)
		}
		return true
	})
	return peers
}

// subscribe welcomes a subscriber, who knows thereby that it misses nothing more. It drops itself what it hasn't asked for.
func (s *server) subscribe(p *peer, frames [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 || frames[0][0] != 1 {
		return
	}
	p.subscribed.Store(true)
	topic := frames[0][1:]
	p.send(s.write([][]byte{topic}, "iopub_welcome", []byte("{}"), fields{"subscription": string(topic)})...)
}

// publish returns when the system has the message for every subscriber.
func (s *server) publish(kind string, parent json.RawMessage, content fields, buffers ...[]byte) {
	frames := s.write([][]byte{[]byte(kind)}, kind, parent, content, buffers...)
	for _, p := range s.peersAt(s.IOPub) {
		if p.subscribed.Load() {
			p.send(frames...)
		}
	}
}

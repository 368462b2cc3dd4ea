package jupyter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

const (
	helloTime = 10 * time.Second // for a front end to say what it is
	sendTime  = 5 * time.Second  // for a front end to take a message, else it is dropped and may connect again
)

// A socket accepts connections and hands on what they say.
type socket struct {
	kind     zmq4.SocketType
	listener net.Listener
	receive  func(*peer, [][]byte) // called by one goroutine per peer
	mu       sync.Mutex
	peers    map[*peer]bool
}

// listen opens a port of a connection file. Connections wait until accept is called.
func listen(kind zmq4.SocketType, c connection, port int, receive func(*peer, [][]byte)) (*socket, error) {
	network, address := "tcp", net.JoinHostPort(strings.TrimPrefix(c.IP, "*"), strconv.Itoa(port))
	switch c.Transport {
	case "tcp":
	case "ipc":
		network, address = "unix", fmt.Sprintf("%s-%d", c.IP, port)
		os.Remove(address) // of a kernel that was killed
	default:
		return nil, fmt.Errorf("transport is %q; want tcp or ipc", c.Transport)
	}
	l, err := net.Listen(network, address)
	return &socket{kind: kind, listener: l, receive: receive, peers: map[*peer]bool{}}, err
}

func (s *socket) accept() {
	for {
		switch c, err := s.listener.Accept(); {
		case err == nil:
			go s.serve(c)
		case errors.Is(err, net.ErrClosed):
			return
		default: // too many open files, for now
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (s *socket) serve(raw net.Conn) {
	defer raw.Close()
	b := &buffered{Conn: raw, w: raw}
	raw.SetDeadline(time.Now().Add(helloTime))
	conn, err := guarded(func() (*zmq4.Conn, error) { return zmq4.Open(b, null.Security(), s.kind, nil, true, nil) })
	if err != nil {
		return
	}
	raw.SetDeadline(time.Time{})
	buf := bufio.NewWriterSize(raw, 1<<16)
	b.w = buf
	p := &peer{conn: conn, raw: raw, buf: buf, identity: conn.Peer.Meta["Identity"]}
	s.mu.Lock()
	s.peers[p] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.peers, p)
		s.mu.Unlock()
	}()
	for {
		m, err := guarded(conn.RecvMsg)
		if err != nil {
			return
		}
		if m.Type == zmq4.UsrMsg {
			s.receive(p, m.Frames)
		}
	}
}

// guarded makes an error of a panic of the library, which anybody who can connect could cause.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("zmq4: %v", p)
		}
	}()
	return f()
}

// each calls f for every peer.
func (s *socket) each(f func(*peer)) {
	s.mu.Lock()
	peers := make([]*peer, 0, len(s.peers))
	for p := range s.peers {
		peers = append(peers, p)
	}
	s.mu.Unlock()
	for _, p := range peers {
		f(p)
	}
}

// identified returns the peer of the front end with an identity, or nil.
func (s *socket) identified(identity string) (found *peer) {
	s.each(func(p *peer) {
		if p.identity == identity {
			found = p
		}
	})
	return found
}

func (s *socket) close() {
	s.listener.Close()
	s.each(func(p *peer) { p.raw.Close() })
}

// A peer is one connection to a socket.
type peer struct {
	conn     *zmq4.Conn
	raw      net.Conn
	identity string // the same for all sockets of a front end
	mu       sync.Mutex
	buf      *bufio.Writer
	topics   []string // that a subscriber wants
}

// send writes a message. When it returns the system has it.
func (p *peer) send(frames ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.raw.SetWriteDeadline(time.Now().Add(sendTime))
	err := p.conn.SendMsg(zmq4.NewMsgFrom(frames...))
	if err == nil {
		err = p.buf.Flush()
	}
	if err != nil {
		p.raw.Close() // half a message may have gone
	}
}

// buffered keeps the pieces of a message together, once the greeting is done.
type buffered struct {
	net.Conn
	w io.Writer
}

func (b *buffered) Write(p []byte) (int, error) { return b.w.Write(p) }

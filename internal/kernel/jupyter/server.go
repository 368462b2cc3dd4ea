package jupyter

import (
	"context"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// server is a running kernel.
type server struct {
	ctx     context.Context // ends when the kernel shuts down
	end     context.CancelFunc
	engine  Engine
	info    Info
	ports   connection
	codec   codec
	iopub   publisher
	stdin   stdin
	sockets []*socket
	comms   comms
	history *history
	mu      sync.Mutex
	shells  map[string]*shell // "" is the one that is always there
	running []*execution
	count   int // the number of the last cell
}

func newServer(ctx context.Context, c connection, e Engine, info Info) *server {
	s := &server{engine: e, info: info, ports: c, codec: codec{[]byte(c.Key), unique()}, shells: map[string]*shell{}, history: openHistory(info.History)}
	s.ctx, s.end = context.WithCancel(ctx)
	s.addShell("")
	s.comms = comms{queue: make(chan *request, 1000), open: map[string]string{}}
	go work(s.ctx, s.comms.queue, s.comm)
	return s
}

// listen opens the sockets, and then all of them at once to front ends.
func (s *server) listen() (err error) {
	c := s.ports
	if c.Key != "" && c.Scheme != "" && c.Scheme != "hmac-sha256" {
		return fmt.Errorf("signature scheme is %q; want hmac-sha256", c.Scheme)
	}
	open := func(kind zmq4.SocketType, port int, receive func(*peer, [][]byte)) *socket {
		if err != nil {
			return nil
		}
		var x *socket
		if x, err = listen(kind, c, port, receive); err == nil {
			s.sockets = append(s.sockets, x)
		}
		return x
	}
	s.iopub = publisher{s.codec, open(zmq4.XPub, c.IOPub, func(p *peer, frames [][]byte) { s.iopub.subscribe(p, frames) })}
	s.stdin = stdin{socket: open(zmq4.Router, c.Stdin, s.answer), asking: make(chan struct{}, 1)}
	open(zmq4.Rep, c.Heartbeat, func(p *peer, frames [][]byte) { p.send(frames...) })
	open(zmq4.Router, c.Control, s.receive)
	open(zmq4.Router, c.Shell, s.receive)
	if err == nil {
		for _, x := range s.sockets {
			go x.accept()
		}
	}
	return err
}

// work does what is asked in a queue, until ctx ends.
func work(ctx context.Context, queue chan *request, do func(*request)) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-queue:
			do(r)
		}
	}
}

// close ends everything but the engine.
func (s *server) close() {
	s.end()
	for _, x := range s.sockets {
		x.close()
	}
}

// receive takes a message of the shell or control channel. Only cells and comms wait for others.
func (s *server) receive(p *peer, frames [][]byte) {
	r, err := s.codec.read(p, frames)
	switch {
	case err != nil:
		log.Print("kernel: message dropped: ", err)
	case r.Type == "execute_request":
		if !s.enqueue(r) {
			s.refuse(r, failure(noShell(r.Subshell)))
		}
	case strings.HasPrefix(r.Type, "comm_") && r.Type != "comm_info_request":
		s.comms.queue <- r
	default:
		go s.handle(r)
	}
}

// handle answers a request beside running cells.
func (s *server) handle(r *request) {
	if r.Type == "interrupt_request" { // before anything that may wait for a front end
		s.interrupt()
	}
	s.iopub.status(r.parent, "busy")
	defer s.idle(r)
	h := handlers[r.Type]
	if h == nil {
		log.Printf("kernel: no such message: %q", r.Type)
		return
	}
	content, err := h(s, r)
	if err != nil {
		content = failure(err)
	}
	s.reply(r, content, nil)
	if r.Type == "shutdown_request" {
		s.end()
	}
}

// refuse answers a request that is not worked on.
func (s *server) refuse(r *request, content fields) {
	s.iopub.status(r.parent, "busy")
	s.reply(r, content, nil)
	s.idle(r)
}

// idle says that the work on a request is done. While cells run the kernel as a whole stays busy, which is what front ends
// show.
func (s *server) idle(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.iopub.status(r.parent, "idle")
	if len(s.running) > 0 {
		s.iopub.status(s.running[0].parent, "busy")
	}
}

func (s *server) reply(r *request, content, metadata fields) {
	if content["status"] == nil {
		content["status"] = "ok"
	}
	kind := strings.TrimSuffix(r.Type, "request") + "reply"
	r.peer.send(s.codec.write(r.prefix, message{kind, r.parent, metadata, content, nil})...)
}

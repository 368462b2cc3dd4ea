package jupyter

import (
	"context"
	"log"
	"strings"
	"sync"
	"time"
)

// server is a running kernel.
type server struct {
	connection
	ctx    context.Context // ends when the kernel shuts down
	end    context.CancelFunc
	engine Engine
	info   Info
	peers  sync.Map      // the keys are of type *peer
	comms  chan *request // messages for widgets
	asking chan struct{} // holds a value while a question waits

	mu      sync.Mutex
	shells  map[string]*request // their last cells; "" is always there
	running []*request
	count   int // the number of the last cell
	history []pastCell
	open    map[string]string // targets of comms by their ids
}

func newServer(ctx context.Context, c connection, e Engine, info Info) *server {
	s := &server{connection: c, engine: e, info: info, comms: make(chan *request, 1000), asking: make(chan struct{}, 1),
		shells: map[string]*request{"": nil}, open: map[string]string{}}
	s.ctx, s.end = context.WithCancel(ctx)
	go func() {
		for r := range s.comms {
			s.comm(r)
		}
	}()
	return s
}

// receive takes what comes to a port. Only cells and comms wait for others.
func (s *server) receive(p *peer, frames [][]byte) {
	switch p.port {
	case s.Heartbeat:
		p.send(frames...)
		return
	case s.IOPub:
		s.subscribe(p, frames)
		return
	}
	r, err := s.read(p, frames)
	switch {
	case err != nil:
		log.Print("kernel: message dropped: ", err)
	case strings.HasPrefix(r.Type, "comm_") && r.Type != "comm_info_request":
		s.comms <- r
	case r.bad != nil:
		s.refuse(r, failure(r.bad))
	case r.Type == "execute_request":
		s.enqueue(r)
	case r.Type == "input_reply":
		select {
		case p.lines <- r.content.Value:
		default: // nobody waits for it
		}
	default:
		go s.handle(r)
	}
}

// handle answers a request beside running cells.
func (s *server) handle(r *request) {
	if r.Type == "interrupt_request" { // before anything that may wait for a front end
		s.interrupt()
	}
	s.status(r, "busy")
	defer s.idle(r)
	content, err := s.answer(r)
	switch {
	case err != nil:
		content = failure(err)
	case content == nil:
		log.Printf("kernel: no such message: %q", r.Type)
		return
	}
	s.reply(r, content)
	if r.Type == "shutdown_request" {
		s.end()
	}
}

// refuse answers a request that is not worked on.
func (s *server) refuse(r *request, content fields) {
	s.status(r, "busy")
	s.reply(r, content)
	s.idle(r)
}

// status says that the kernel works on a request, or no longer does.
func (s *server) status(r *request, state string) {
	s.publish("status", r.parent, fields{"execution_state": state})
}

// idle says that the work on a request is done. While cells run the kernel as a whole stays busy, which is what front ends
// show.
func (s *server) idle(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status(r, "idle")
	if len(s.running) > 0 {
		s.status(s.running[0], "busy")
	}
}

func (s *server) reply(r *request, content fields) {
	if content["status"] == nil {
		content["status"] = "ok"
	}
	kind := strings.TrimSuffix(r.Type, "request") + "reply"
	r.peer.send(s.write(r.prefix, kind, r.parent, content)...)
}

// forceTime is how long a cell has to stop before another interrupt ends it by force; a double click is one interrupt.
const forceTime = time.Second

// interrupt stops the cells that run. It ends them by force if an earlier interrupt has not stopped them.
func (s *server) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	force := false
	for _, r := range s.running {
		r.cancel()
		if r.interrupted.IsZero() {
			r.interrupted = time.Now()
		}
		force = force || time.Since(r.interrupted) > forceTime
	}
	if force {
		go s.engine.Force()
	}
}

package jupyter

import (
	"context"
	"io"
	"log"
	"sync"
)

// stdin asks the user one question at a time.
type stdin struct {
	socket *socket
	asking chan struct{} // holds a value while a question waits
	mu     sync.Mutex
	asked  *peer
	line   chan string // where its answer goes
}

func (in *stdin) expect(p *peer, line chan string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.asked, in.line = p, line
}

// answer takes a message of the stdin channel. An answer that nobody waits for belongs to a cell that was stopped.
func (s *server) answer(p *peer, frames [][]byte) {
	r, err := s.codec.read(p, frames)
	var c struct{ Value string }
	if err == nil {
		err = r.decode(&c)
	}
	if err != nil {
		log.Print("kernel: input dropped: ", err)
		return
	}
	s.stdin.mu.Lock()
	defer s.stdin.mu.Unlock()
	if r.Type == "input_reply" && s.stdin.asked == p {
		s.stdin.line <- c.Value
		s.stdin.asked = nil
	}
}

// ask asks the front end of a request for a line. ended is closed when nobody can answer any more.
func (s *server) ask(ctx context.Context, r *request, ended <-chan struct{}, prompt string, password bool) (string, error) {
	select {
	case <-ended:
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	case s.stdin.asking <- struct{}{}:
		defer func() { <-s.stdin.asking }()
	}
	p := s.stdin.socket.identified(r.peer.identity)
	if p == nil || closed(ended) {
		return "", io.EOF
	}
	line := make(chan string, 1)
	s.stdin.expect(p, line)
	defer s.stdin.expect(nil, nil)
	question := message{kind: "input_request", parent: r.parent, content: fields{"prompt": prompt, "password": password}}
	p.send(s.codec.write(r.prefix, question)...)
	select {
	case <-ended:
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	case text := <-line:
		return text, nil
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

package jupyter

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// A shell runs its cells one after another. Beside the first shell, which has no name, are the subshells of JEP 91.
type shell struct {
	ctx    context.Context // of the cells that wait and the one that runs
	cancel context.CancelFunc
	last   chan struct{} // closed when the last cell has ended
}

func (s *server) addShell(name string) {
	sh := &shell{last: make(chan struct{})}
	close(sh.last)
	sh.ctx, sh.cancel = context.WithCancel(s.ctx)
	s.shells[name] = sh
}

// stop cancels the cells that a shell has, but not what arrives later.
func (s *server) stop(sh *shell) {
	sh.cancel()
	sh.ctx, sh.cancel = context.WithCancel(s.ctx)
}

var errNoShell = errors.New("there is no such subshell")

// subshell answers a request about subshells.
func (s *server) subshell(r *request) (fields, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.content.Subshell
	switch r.header.Type {
	case "create_subshell_request":
		id = rand.Text()
		s.addShell(id)
		return fields{"subshell_id": id}, nil
	case "delete_subshell_request":
		sh := s.shells[id]
		if sh == nil || id == "" {
			return nil, errNoShell
		}
		sh.cancel()
		delete(s.shells, id)
		return fields{}, nil
	}
	return fields{"subshell_id": slices.Sorted(maps.Keys(s.shells))[1:]}, nil // without ""
}

// enqueue runs a cell when the one before it in its shell has ended, if it has not been cancelled by then.
func (s *server) enqueue(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shells[r.header.Subshell]
	if sh == nil {
		go s.handle(r, errNoShell)
		return
	}
	before := sh.last
	r.shell, r.ctx, r.ended = sh, sh.ctx, make(chan struct{})
	sh.last = r.ended
	go func() {
		defer close(r.ended)
		<-before
		s.handle(r, nil)
	}()
}

// execute runs a cell. It returns the content of the reply.
func (s *server) execute(r *request) fields {
	if r.ctx.Err() != nil {
		return fields{"status": "aborted"}
	}
	s.mu.Lock()
	s.running = append(s.running, r)
	r.number = len(s.past) + 1
	if r.content.Store {
		s.past = append(s.past, r.content.Code)
	}
	s.mu.Unlock()
	r.show("execute_input", fields{"code": r.content.Code, "execution_count": r.number})
	err := s.engine.Execute(r.ctx, r.content.Code, r.number, r)
	content := fields{"user_expressions": fields{}}
	if err != nil {
		content = problem(err)
		r.show("error", problem(err))
	}
	content["payload"], content["execution_count"] = []any{}, r.number
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && r.content.Stop && !r.content.Silent {
		s.stop(r.shell)
	}
	s.running = slices.DeleteFunc(s.running, func(x *request) bool { return x == r })
	return content
}

// forceTime is how long a cell has to stop before another interrupt ends it by force; a double click is one interrupt.
const forceTime = time.Second

// interrupt stops the cells that run. It ends them by force if an earlier interrupt has not stopped them.
func (s *server) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		if r.interrupted.IsZero() {
			r.interrupted = time.Now()
		} else if time.Since(r.interrupted) > forceTime {
			go s.engine.Force()
			break
		}
	}
	for _, sh := range s.shells {
		s.stop(sh)
	}
}

// show publishes output, unless the cell is to show nothing.
func (r *request) show(kind string, content fields) {
	if !r.content.Silent {
		r.publish(kind, content)
	}
}

// Stream appends text to an output stream.
func (r *request) Stream(name, text string) { r.show("stream", fields{"name": name, "text": text}) }

// Display shows rich output.
func (r *request) Display(kind string, d *protocol.DisplayData) {
	content := fields{"data": d.Data, "metadata": fields{}, "transient": fields{}}
	if d.Metadata != nil {
		content["metadata"] = d.Metadata
	}
	if d.DisplayID != "" {
		content["transient"] = fields{"display_id": d.DisplayID}
	}
	if kind == "execute_result" {
		content["execution_count"] = r.number
	}
	r.show(kind, content)
}

// Input asks one question at a time of all cells.
func (r *request) Input(ctx context.Context, prompt string, password bool) (string, error) {
	s := r.server
	s.asking.Lock()
	defer s.asking.Unlock()
	found, ok := s.askers.Load(r.peer.identity)
	if !ok || !r.content.Stdin {
		return "", io.EOF
	}
	p := found.(*peer)
	select {
	case <-r.ended:
		return "", io.EOF
	case <-p.lines: // an answer to a cell that was stopped
	default:
	}
	p.send(s.write(r.prefix, "input_request", r.parent, fields{"prompt": prompt, "password": password})...)
	select {
	case <-r.ended:
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-p.lines:
		return line, nil
	}
}

// Comm sends data to a page.
func (r *request) Comm(id string, data map[string]any) {
	r.publish("comm_msg", fields{"comm_id": id, "data": data})
}

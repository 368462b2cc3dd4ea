package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log"
	"maps"
	"slices"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// A shell runs its cells one after another. Beside the first shell, which has no name, are the
// subshells of JEP 91.
type shell struct {
	ctx    context.Context // of the cells that wait and the one that runs
	cancel context.CancelFunc
	last   *request // the newest cell
}

func (s *server) addShell(name string) {
	sh := &shell{last: &request{ended: make(chan struct{})}}
	close(sh.last.ended)
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

// enqueue runs a cell when the one before it in its shell has ended, if it has not been cancelled
// by then.
func (s *server) enqueue(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shells[r.header.Subshell]
	if sh == nil {
		go s.handle(r, errNoShell)
		return
	}
	before := sh.last
	r.shell, r.ctx, r.runs, r.ended = sh, sh.ctx, make(chan struct{}), make(chan struct{})
	sh.last = r
	s.waiting[r.metadata.Cell]++
	go s.prepare(r, before)
	go func() {
		defer close(r.ended)
		<-before.ended
		s.handle(r, nil)
	}()
}

// execute runs a cell. It returns the content of the reply.
func (s *server) execute(r *request) fields {
	s.mu.Lock()
	s.waiting[r.metadata.Cell]--
	if r.ctx.Err() != nil {
		s.mu.Unlock()
		return fields{"status": "aborted"}
	}
	s.running, s.newest = append(s.running, r), r
	r.number = len(s.past) + 1
	if r.content.Store {
		s.past = append(s.past, r.content.Code)
	}
	notes := s.notes
	s.notes = nil
	s.mu.Unlock()
	r.show("execute_input", fields{"code": r.content.Code, "execution_count": r.number})
	for _, line := range notes {
		r.stream("stderr", line+"\n")
	}
	err := enter(func() error { return s.engine.execute(r) })
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(x *request) bool { return x == r })
	if err != nil && r.content.Stop && !r.content.Silent {
		s.stop(r.shell)
	}
	s.mu.Unlock()
	expressions := fields{}
	for name := range r.content.Expressions {
		expressions[name] = withStatus(problem(errExpression))
	}
	ended := fields{"payload": []any{}, "execution_count": r.number, "user_expressions": expressions}
	if err != nil {
		r.show("error", problem(err))
		maps.Copy(ended, problem(err))
	}
	return ended
}

// waits says whether a cell waits to be run.
func (s *server) waits(cell string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cell != "" && s.waiting[cell] > 0
}

// errExpression is what becomes of the expressions that a front end may send with a cell: each
// would take as long as a cell.
var errExpression = errors.New("expressions are not evaluated beside a cell: run them as cells")

// speaker is the newest cell that runs, or else the newest one, to which all belongs that the host
// says.
func (s *server) speaker() *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.running); n > 0 {
		return s.running[n-1]
	}
	return s.newest
}

// note shows a line below the cell that runs, or else below the next one.
func (s *server) note(line string) {
	log.Print("kernel: ", line)
	s.mu.Lock()
	waits := len(s.running) == 0
	if waits {
		s.notes = append(s.notes, line)
	}
	s.mu.Unlock()
	if !waits {
		s.speaker().stream("stderr", line+"\n")
	}
}

// busy says whether other cells run than the one that asks.
func (s *server) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running) > 1
}

// forceTime is how long a cell has to stop before another interrupt ends it by force; a double
// click is one interrupt.
const forceTime = time.Second

// interrupt stops the cells that run. It ends them by force if an earlier interrupt has not stopped
// them.
func (s *server) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		if r.interrupted.IsZero() {
			r.interrupted = time.Now()
		} else if time.Since(r.interrupted) > forceTime {
			s.engine.force()
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

// stream appends text to "stdout" or "stderr".
func (r *request) stream(name, text string) { r.show("stream", fields{"name": name, "text": text}) }

// display shows rich output by a message of a kind: display_data, update_display_data or
// execute_result.
func (r *request) display(kind string, d *protocol.DisplayData) {
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

// input asks the user for a line, which it returns without its end: one question at a time of all
// cells. It is not ok where nobody can answer: the front end has no input, or done is closed.
func (r *request) input(done <-chan struct{}, prompt string, password bool) (line string, ok bool) {
	s := r.server
	s.asking.Lock()
	defer s.asking.Unlock()
	var found any
	for begun := time.Now(); !ok; found, ok = s.askers.Load(r.peer.identity) { // who may connect after the cell was sent
		if !r.content.Stdin || time.Since(begun) > sendTime {
			return "", false
		}
		select {
		case <-done:
			return "", false
		case <-time.After(10 * time.Millisecond):
		}
	}
	p := found.(*peer)
	select {
	case <-p.lines: // an answer to a cell that was stopped
	default:
	}
	p.send(s.write(r.prefix, "input_request", r.parent, fields{"prompt": prompt, "password": password})...)
	select {
	case <-done:
		return "", false
	case line = <-p.lines:
		return line, true
	}
}

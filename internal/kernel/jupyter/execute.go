package jupyter

import (
	"context"
	"errors"
	"slices"
)

// enqueue runs a cell when the one before it in its subshell has ended, if it has not been cancelled by then.
func (s *server) enqueue(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.shells[r.Subshell]
	if !ok {
		go s.refuse(r, failure(errNoShell))
		return
	}
	r.before, r.ended = before, make(chan struct{})
	r.ctx, r.cancel = context.WithCancel(s.ctx)
	s.shells[r.Subshell] = r
	go func() {
		defer close(r.ended)
		if before != nil {
			<-before.ended
		}
		s.execute(r)
	}()
}

// cancel ends the cells of a subshell, or those behind one.
func (s *server) cancel(shell string, behind *request) {
	for r := s.shells[shell]; r != nil && r != behind; r = r.before {
		r.cancel()
	}
}

// removeShell ends a subshell and its cells.
func (s *server) removeShell(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.shells[id]; !ok || id == "" {
		return errNoShell
	}
	s.cancel(id, nil)
	delete(s.shells, id)
	return nil
}

var errNoShell = &Error{Name: "UnknownSubshell", Value: "there is no such subshell"}

// begin counts a cell among those that run. It returns the cell's number, or 0 if it has been cancelled.
func (s *server) begin(r *request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.before = nil
	if r.ctx.Err() != nil {
		return 0
	}
	s.running = append(s.running, r)
	s.status(r, "busy")
	number := s.count + 1
	if r.content.Store {
		s.count = number
	}
	return number
}

// execute runs a cell and answers it.
func (s *server) execute(r *request) {
	c := r.content
	number := s.begin(r)
	if number == 0 {
		s.refuse(r, fields{"status": "aborted"})
		return
	}
	o := s.newOut(r, number, c.Silent)
	if !c.Stdin {
		o.finish()
	}
	o.publish("execute_input", fields{"code": c.Code, "execution_count": number})
	err := s.run(r.ctx, Cell{c.Code, number, r.cell.ID}, o)
	content := fields{}
	if err == nil {
		content["user_expressions"] = s.evaluate(r)
	} else {
		content = failure(err)
		if s.ctx.Err() == nil {
			o.publish("error", problem(err))
		}
	}
	content["payload"], content["execution_count"] = []any{}, number
	s.mu.Lock()
	if c.Store {
		s.history = append(s.history, pastCell{number, c.Code, o.result["text/plain"]})
	}
	if err != nil && c.Stop && !c.Silent {
		s.cancel(r.Subshell, r) // but not what arrives after the reply
	}
	s.mu.Unlock()
	r.cancel()
	s.reply(r, content)
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(x *request) bool { return x == r })
	s.mu.Unlock()
	s.idle(r)
}

// run runs a cell to its end, with all of its output sent.
func (s *server) run(ctx context.Context, c Cell, o *out) error {
	err := s.engine.Execute(ctx, c, o)
	o.finish()
	o.flush()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &Error{Name: "Interrupted", Value: "the cell was stopped"}
	}
	return err
}

// evaluate runs each expression of a request as a cell that shows nothing.
func (s *server) evaluate(r *request) fields {
	values := fields{}
	for name, code := range r.content.Expressions {
		o := s.newOut(r, 0, true)
		o.finish()
		if err := s.run(r.ctx, Cell{Code: code}, o); err != nil {
			values[name] = failure(err)
		} else {
			values[name] = fields{"status": "ok", "data": encodable(o.result), "metadata": fields{}}
		}
	}
	return values
}

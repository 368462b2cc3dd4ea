package jupyter

import (
	"context"
	"errors"
	"slices"
)

// enqueue runs a cell when those before it in its subshell have ended.
func (s *server) enqueue(r *request) {
	r.ctx, r.cancel = context.WithCancel(s.ctx)
	s.mu.Lock()
	cells, ok := s.shells[r.Subshell]
	if ok {
		s.shells[r.Subshell] = append(cells, r)
	}
	s.mu.Unlock()
	switch {
	case !ok:
		s.refuse(r, failure(errNoShell))
	case len(cells) == 0:
		go s.work(r)
	}
}

// work runs a cell and those that wait for it.
func (s *server) work(r *request) {
	for r != nil {
		s.execute(r)
		r = s.next(r)
	}
}

// next takes a cell that has ended from its subshell and returns the one behind it, or nil.
func (s *server) next(r *request) *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	cells := s.shells[r.Subshell]
	if len(cells) == 0 { // the subshell has been removed
		return nil
	}
	s.shells[r.Subshell] = cells[1:]
	if len(cells) == 1 {
		return nil
	}
	return cells[1]
}

// behind takes the cells that wait in a subshell away from it.
func (s *server) behind(shell string) (waiting []*request) {
	if cells := s.shells[shell]; len(cells) > 1 {
		s.shells[shell], waiting = cells[:1:1], cells[1:]
	}
	return waiting
}

// abort answers cells that will not run.
func (s *server) abort(cells []*request) {
	for _, r := range cells {
		s.refuse(r, fields{"status": "aborted"})
	}
}

// removeShell ends a subshell and its cells.
func (s *server) removeShell(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.shells[id]; !ok || id == "" {
		return errNoShell
	}
	go s.abort(s.behind(id))
	for _, r := range s.shells[id] {
		r.cancel()
	}
	delete(s.shells, id)
	return nil
}

var errNoShell = &Error{Name: "UnknownSubshell", Value: "there is no such subshell"}

// begin counts a cell among those that run, and returns its number.
func (s *server) begin(r *request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	metadata := fields{"started": now()}
	o := s.newOut(r, number, c.Silent)
	if !c.Stdin {
		o.finish()
	}
	o.publish("execute_input", fields{"code": c.Code, "execution_count": number})
	err := s.run(r.ctx, Cell{c.Code, number, r.cell.ID, c.Silent}, o)
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
	var behind []*request
	s.mu.Lock()
	if c.Store {
		s.history = append(s.history, pastCell{number, c.Code, o.result["text/plain"]})
	}
	if err != nil && c.Stop && !c.Silent {
		behind = s.behind(r.Subshell) // but not what arrives after the reply
	}
	s.mu.Unlock()
	r.cancel()
	s.reply(r, content, metadata)
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(x *request) bool { return x == r })
	s.mu.Unlock()
	s.idle(r)
	s.abort(behind)
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
		if err := s.run(r.ctx, Cell{Code: code, Silent: true}, o); err != nil {
			values[name] = failure(err)
		} else {
			values[name] = fields{"status": "ok", "data": encodable(o.result), "metadata": fields{}}
		}
	}
	return values
}

package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// forceTime is how long a cell has to stop before another interrupt ends it by force; a double click is one interrupt.
const forceTime = time.Second

// A shell runs cells one after the other.
type shell struct {
	ctx   context.Context // ends with the shell
	end   context.CancelFunc
	cells chan *request // that wait
}

// An execution is a cell that runs.
type execution struct {
	parent      json.RawMessage
	cancel      context.CancelFunc
	interrupted time.Time
}

// executeContent is the content of an execute_request.
type executeContent struct {
	Code        string
	Silent      bool
	Store       bool              `json:"store_history"`
	Expressions map[string]string `json:"user_expressions"`
	Stdin       bool              `json:"allow_stdin"`
	Stop        bool              `json:"stop_on_error"`
}

func (s *server) addShell(id string) {
	sh := &shell{cells: make(chan *request, 10_000)}
	sh.ctx, sh.end = context.WithCancel(s.ctx)
	s.mu.Lock()
	s.shells[id] = sh
	s.mu.Unlock()
	go func() {
		work(sh.ctx, sh.cells, func(r *request) {
			if sh.ctx.Err() != nil {
				s.abort([]*request{r})
			} else {
				s.execute(r, sh)
			}
		})
		s.abort(sh.drain())
	}()
}

// removeShell ends a subshell and its cells.
func (s *server) removeShell(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shells[id]
	if sh == nil || id == "" {
		return noShell(id)
	}
	delete(s.shells, id)
	sh.end()
	return nil
}

func noShell(id string) error {
	return &Error{Name: "UnknownSubshell", Value: fmt.Sprintf("there is no subshell %q", id)}
}

// enqueue gives a cell to its shell. It reports whether there is one, with room.
func (s *server) enqueue(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sh := s.shells[r.Subshell]; sh != nil {
		select {
		case sh.cells <- r:
			return true
		default:
		}
	}
	return false
}

// drain takes the cells that wait in a shell.
func (sh *shell) drain() (cells []*request) {
	for {
		select {
		case r := <-sh.cells:
			cells = append(cells, r)
		default:
			return cells
		}
	}
}

// abort answers cells that will not run.
func (s *server) abort(cells []*request) {
	for _, r := range cells {
		s.refuse(r, fields{"status": "aborted"})
	}
}

// interrupt stops the cells that run. It ends them by force if an earlier interrupt has not stopped them.
func (s *server) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	force := false
	for _, e := range s.running {
		e.cancel()
		if e.interrupted.IsZero() {
			e.interrupted = time.Now()
		}
		force = force || time.Since(e.interrupted) > forceTime
	}
	if force {
		go s.engine.Force()
	}
}

// begin counts a cell among those that run.
func (s *server) begin(r *request, sh *shell, stored bool) (*execution, context.Context, int) {
	ctx, cancel := context.WithCancel(sh.ctx)
	e := &execution{parent: r.parent, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = append(s.running, e)
	number := s.count + 1
	if stored {
		s.count = number
	}
	s.iopub.status(r.parent, "busy")
	return e, ctx, number
}

// execute runs a cell.
func (s *server) execute(r *request, sh *shell) {
	c := executeContent{Store: true, Stop: true}
	err := r.decode(&c)
	c.Store = c.Store && !c.Silent && err == nil
	e, ctx, number := s.begin(r, sh, c.Store)
	metadata := fields{"started": now()}
	o := s.newOut(r, number, c.Silent)
	if !c.Stdin {
		o.finish()
	}
	if !c.Silent {
		o.publish("execute_input", fields{"code": c.Code, "execution_count": number})
	}
	if err == nil {
		err = s.run(ctx, Cell{c.Code, number, cellID(r.metadata), c.Silent}, o)
	}
	content := fields{"payload": []any{}}
	if err != nil {
		content = failure(err)
		if !c.Silent && s.ctx.Err() == nil {
			o.publish("error", problem(err))
		}
	} else {
		content["user_expressions"] = s.evaluate(ctx, r, c.Expressions)
	}
	content["execution_count"] = number
	if c.Store {
		s.history.add(number, c.Code, o.result)
	}
	var behind []*request
	if err != nil && c.Stop && !c.Silent {
		behind = sh.drain() // but not what arrives after the reply
	}
	e.cancel()
	s.reply(r, content, metadata)
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(x *execution) bool { return x == e })
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

// evaluate runs each expression as a cell that shows nothing.
func (s *server) evaluate(ctx context.Context, r *request, expressions map[string]string) fields {
	values := fields{}
	for name, code := range expressions {
		o := s.newOut(r, 0, true)
		o.finish()
		if err := s.run(ctx, Cell{Code: code, Silent: true}, o); err != nil {
			values[name] = failure(err)
		} else {
			values[name] = fields{"status": "ok", "data": encodable(o.result), "metadata": fields{}}
		}
	}
	return values
}

// cellID is the cell's name in the metadata of a request.
func cellID(metadata json.RawMessage) string {
	var m struct {
		ID string `json:"cellId"`
	}
	json.Unmarshal(metadata, &m)
	return m.ID
}

package main

import (
	"os"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// While a cell runs, the next one that waits is built, so that it can run at once. Nothing of that
// is seen before its turn, when it is built again if it has failed or if meanwhile something else
// has been declared.

// ahead is a cell that was built before its turn.
type ahead struct {
	process *process
	cell    *cell.Cell
	source  cell.Source // with the number that it was expected to have
	file    string
}

// prepare builds a cell when the one before it runs.
func (s *server) prepare(r, before *request) {
	select {
	case <-before.runs:
	case <-before.ended:
		return
	}
	s.mu.Lock()
	number := len(s.past) + 1
	s.mu.Unlock()
	enter(func() error { s.engine.prepare(r, number); return nil })
}

// prepare builds a cell that only has Go, unless its turn has come.
func (e *notebook) prepare(r *request, number int) {
	e.building.Lock()
	defer e.building.Unlock()
	p, s := e.process.Load(), r.source(number)
	if r.begun || r.ctx.Err() != nil || !p.Go.Plugins || s.Magic != "" || len(s.Commands) > 0 {
		return
	}
	c, err := p.Ahead(s)
	if err != nil {
		return
	}
	file, err := p.Link(r.ctx, nil, c.ID)
	if err != nil {
		return
	}
	r.ahead = &ahead{p, c, s, file}
	go func() {
		<-r.ended
		os.Remove(file)
	}()
}

// prepared returns what was built of a cell, if all is as it was then.
func (r *request) prepared(p *process, s cell.Source) (c *cell.Cell, file string) {
	a := r.ahead
	if a == nil || a.process != p || a.source.File != s.File || a.source.Go != s.Go || !p.Take(a.cell) {
		return nil, ""
	}
	r.ahead = nil
	return a.cell, a.file
}

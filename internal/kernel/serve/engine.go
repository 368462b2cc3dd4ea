package main

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/tempdir"
)

// notebook runs cells of Go in a host.
type notebook struct {
	server   *server
	temp     tempdir.Dir
	dir      string                  // its path, for the cells of this kernel
	process  atomic.Pointer[process] // the host that runs now
	building sync.Mutex              // cells of subshells are translated and built in turn
	past     history
	page     *bridge
	args     []string // of the program
}

// newNotebook starts the host that is in the folder of the kernel.
func newNotebook(folder string, s *server) (e *notebook, err error) {
	h, err := build.Read(folder)
	if h != nil {
		h.Note = s.note
	}
	if h != nil && err != nil { // Go's cache was cleaned, or a file was damaged
		h, err = h.Current(s.ctx)
	}
	if err != nil {
		return nil, err
	}
	temp, err := tempdir.Make("parallelcl-notebook-", endMarked)
	if err != nil {
		return nil, err
	}
	e = &notebook{server: s, temp: temp, dir: temp.Path, args: []string{}}
	e.page = newBridge(s.file, func(address string, value any) { e.process.Load().give(address, value) })
	p, err := e.start(s.ctx, h.Cells(e.dir))
	if err != nil {
		return nil, errors.Join(err, e.temp.Remove())
	}
	e.process.Store(p)
	const common = "experiment.New(nb.Show(fmt.Sprint(ctx"
	// so that no cell has to wait until these packages are read
	go enter(func() error { p.Complete(common, len(common)); return nil })
	return e, nil
}

func (e *notebook) close() error {
	p := e.process.Load()
	p.end()
	<-p.life.Done()
	endMarked(e.dir)
	return e.temp.Remove()
}

func (e *notebook) execute(r *request) error {
	do := &commands{notebook: e, request: r, Source: r.source(r.number)}
	r.do = do.one
	defer r.unfold()
	err := do.run()
	return explained(err, do.File, r.content.Code)
}

// source is the text of the cell, taken apart, with a number.
func (r *request) source(number int) cell.Source {
	s := cell.Read(fmt.Sprintf("In[%d]", number), r.content.Code)
	s.Cell = r.metadata.Cell
	return s
}

// run builds and runs the Go code of a cell. Without plugins the next cell waits, since its process
// takes the place of this one.
func (e *notebook) run(r *request, s cell.Source) error {
	e.building.Lock()
	defer e.building.Unlock()
	p, c, file, err := e.build(r, s)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	err = e.runBuilt(r, p, c.ID, file)
	p.found(c, err)
	if p.life.Err() != nil {
		if err := errors.Join(err, e.ready(r, false, "in "+s.File)); err != nil {
			return err
		}
	}
	e.autosave(p, s.File)
	return err
}

// runBuilt runs a cell that is built, while others are built if they can be.
func (e *notebook) runBuilt(r *request, p *process, id int, file string) error {
	if p.Go.Plugins {
		e.building.Unlock()
		defer e.building.Lock()
	}
	r.begins.Do(func() { close(r.runs) })
	return p.run(r.ctx, id, file, "Run")
}

// build makes a plugin of a cell, or a process that can run it. Later cells know its declarations.
func (e *notebook) build(r *request, s cell.Source) (p *process, c *cell.Cell, file string, err error) {
	if err := e.ready(r, false, "before "+s.File); err != nil {
		return nil, nil, "", err
	}
	p, r.begun = e.process.Load(), true
	if c, file = r.prepared(p, s); c == nil {
		if c, err = p.Compile(r.ctx, s); err != nil {
			return nil, nil, "", err
		}
	}
	for _, note := range c.Notes {
		r.stream("stderr", note+"\n")
	}
	if p.Go.Plugins {
		file, err = p.load(r.ctx, file, nil, c.ID)
	} else {
		p, err = e.renewFor(r, p, c, s.File)
	}
	if err != nil {
		return nil, nil, "", err
	}
	p.Deleted(r.metadata.Deleted)
	p.Commit(c)
	e.noteStale(r, c.Stale)
	e.past.sources = append(e.past.sources, s)
	return p, c, file, nil
}

// noteStale says which cells used what a cell has redefined, but for those that wait to run again.
func (e *notebook) noteStale(r *request, s cell.Stale) {
	var cells []string
	for _, one := range s.Cells {
		if !e.server.waits(one.Cell) {
			cells = append(cells, one.File)
		}
	}
	them := "them"
	switch len(cells) {
	case 0:
		return
	case 1:
		them = "it"
	}
	r.stream("stderr", fmt.Sprintf("%s used the old %s: run %s again.\n", listed(cells), listed(s.Names), them))
}

// listed is a list in a sentence.
func listed(words []string) string {
	if n := len(words); n > 5 {
		words = append(words[:4:4], fmt.Sprint(n-4, " more"))
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// renewFor starts a host with one more cell. It fails if that cell reads a value that could not be
// handed over to the new host.
func (e *notebook) renewFor(r *request, old *process, c *cell.Cell, name string) (*process, error) {
	lost, err := e.save(r.ctx, old, false)
	if err != nil {
		return nil, err
	}
	p, err := e.renew(r, old.Host, "", "before "+name, lost, c.ID)
	if err != nil {
		return nil, err
	}
	return p, c.ReadsLost()
}

// force ends a host whose cells don't stop. The next cell gets a new one.
func (e *notebook) force() { e.process.Load().end() }

func (e *notebook) comm(r *request) { e.page.comm(r) }

// valueTime is how long the host has to write a value.
const valueTime = time.Second

func (e *notebook) inspect(code string, offset int) (list []cell.Description) {
	p := e.process.Load()
	list = p.Inspect(code, offset)
	for i, d := range list {
		if d.Variable != "" && d.Value == "" {
			ctx, cancel := context.WithTimeout(context.Background(), valueTime)
			err := p.call(ctx, "Value", d.Variable, &list[i].Value)
			cancel()
			if err != nil {
				list[i].Value = err.Error()
			}
		}
	}
	return list
}

// named are strings for which the host knows what may stand in them: names of methods, data sets
// and networks.
var named = regexp.MustCompile(`(?:\b(Method|Dataset|Model)\s*:?=?\s*|` +
	`\b(method|datasets|model|experiment)\.(?:New|Lookup|Make|Open)\([^"()]*)"([^"\n]*)$`)

func (e *notebook) complete(code string, offset int) (start int, list []cell.Proposal, err error) {
	p := e.process.Load()
	if line, ok := commandAt(code, offset); ok {
		return offset - len(line), propose(line, strings.Contains(code[:offset], "\n")), nil
	}
	m := named.FindStringSubmatch(code[:offset])
	if m == nil {
		start, list = p.Complete(code, offset)
		return start, list, nil
	}
	begun := m[3][strings.LastIndex(m[3], "+")+1:] // methods can be joined
	var names []string
	kind := strings.ToLower(m[1] + m[2])
	err = p.call(context.Background(), "Names", kind, &names)
	for _, name := range names {
		if strings.HasPrefix(name, begun) {
			list = append(list, cell.Proposal{Text: name, Kind: kind})
		}
	}
	return offset - len(begun), list, err
}

// explained makes an error of a cell readable in a notebook.
func explained(err error, name, code string) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		var s stopped
		errors.As(err, &s)
		return s
	}
	var said strings.Builder
	scanner.PrintError(&said, err) // each one of a list
	lines, text := strings.Split(code, "\n"), ""
	for line := range strings.Lines(said.String()) {
		text += line
		n := 0
		if fmt.Sscanf(line, name+":%d", &n); n > 0 && n <= len(lines) {
			text += "\t" + strings.TrimSpace(lines[n-1]) + "\n"
		}
	}
	return errors.New(strings.TrimSpace(text))
}

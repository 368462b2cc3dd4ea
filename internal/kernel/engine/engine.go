// Package engine runs the cells of a notebook: it translates each into a package, builds a plugin of it, and loads that into
// the process in which all cells live on. It implements [jupyter.Engine]; begin with [New].
package engine

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// Engine runs cells.
type Engine struct {
	*cell.Notebook
	connection string                  // Jupyter's connection file
	dir        string                  // for the cells of this kernel
	process    atomic.Pointer[process] // the host that runs now

	mu      sync.Mutex
	newest  jupyter.Out   // of the cell that was started last
	running []jupyter.Out // of the cells that run, the newest last

	building sync.Mutex // cells of subshells are translated and built in turn
	past     history
}

// New starts an engine and its host, which is in the folder of the kernel. connection is Jupyter's connection file.
func New(folder, connection string) (e *Engine, err error) {
	defer fail.Caught(&err)
	h, err := build.Read(folder)
	if h != nil && err != nil { // Go's cache was cleaned
		h, err = h.Current(context.Background())
	}
	fail.If(err)
	e = &Engine{Notebook: cell.New(h.Packages, h.Go.Root), connection: connection, dir: fail.Or(os.MkdirTemp("", "parallelcl-notebook-"))}
	if err := e.start(h.Builder(e.dir)); err != nil {
		os.RemoveAll(e.dir)
		return nil, err
	}
	const common = "experiment.New(nb.Show(fmt.Sprint(ctx"
	go e.Notebook.Complete(common, len(common)) // so that no cell has to wait until these packages are read
	return e, nil
}

// Close ends the host and removes all that the engine has written.
func (e *Engine) Close() error {
	e.process.Load().kill()
	return os.RemoveAll(e.dir)
}

// Execute runs a cell.
func (e *Engine) Execute(ctx context.Context, code string, number int, out jupyter.Out) error {
	e.mu.Lock()
	e.newest, e.running = out, append(e.running, out)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.running = slices.DeleteFunc(e.running, func(one jupyter.Out) bool { return one == out })
	}()
	do := &commands{Engine: e, Source: cell.Read(fmt.Sprintf("In[%d]", number), code), ctx: ctx, out: out}
	return explained(do.run(), do.File, code)
}

// out is the output of the newest cell that runs, or else of the newest one, to which all belongs that the host says.
func (e *Engine) out() jupyter.Out {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.running); n > 0 {
		return e.running[n-1]
	}
	return e.newest
}

// run builds and runs the Go code of a cell.
func (e *Engine) run(ctx context.Context, s cell.Source, out jupyter.Out) error {
	id, file := e.build(ctx, s, out)
	defer os.Remove(file)
	p := e.process.Load()
	err := p.run(ctx, id, file)
	e.building.Lock()
	defer e.building.Unlock()
	if p.life.Err() != nil {
		return errors.Join(err, e.ready(ctx, out, false))
	}
	e.autosave(p)
	return err
}

// build makes a plugin of a cell. What it declares is known from then on.
func (e *Engine) build(ctx context.Context, s cell.Source, out jupyter.Out) (id int, file string) {
	e.building.Lock()
	defer e.building.Unlock()
	fail.If(e.ready(ctx, out, false))
	b := e.process.Load().builder
	c := fail.Or(e.compile(ctx, b, s))
	for _, note := range c.Notes {
		out.Stream("stderr", note+"\n")
	}
	file = fail.Or(b.Link(ctx, cell.Run, c.ID))
	e.commit(c)
	e.past.sources = append(e.past.sources, s)
	return c.ID, file
}

// compile makes a package of a cell. It fetches what the cell imports and the host does not have.
func (e *Engine) compile(ctx context.Context, b *build.Builder, s cell.Source) (c *cell.Cell, err error) {
	defer fail.Caught(&err)
	c, err = e.Translate(s)
	if missing := cell.Missing(err); len(missing) > 0 {
		e.Add(fail.Or(b.Fetch(ctx, missing)))
		c, err = e.Translate(s)
	}
	fail.If(err)
	return c, b.Compile(ctx, c)
}

func (e *Engine) commit(c *cell.Cell) {
	e.Commit(c)
	e.past.ids = append(e.past.ids, c.ID)
}

// Force replaces a host whose cells don't stop.
func (e *Engine) Force() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.running) > 0 { // they may have stopped by now
		e.process.Load().end()
	}
}

// Comm takes a message of a page.
func (e *Engine) Comm(m jupyter.Comm, out jupyter.Out) error {
	return e.process.Load().page.comm(m, out)
}

// named are strings for which the host knows what may stand in them: names of methods, data sets and networks.
var named = regexp.MustCompile(`(?:\b(Method|Dataset|Model)\s*:?=?\s*|\b(method|datasets|model|experiment)\.(?:New|Lookup|Make|Open)\([^"()]*)"([^"\n]*)$`)

// Complete proposes what may stand at an offset of a cell, also while cells run.
func (e *Engine) Complete(code string, offset int) (start int, list []cell.Proposal, err error) {
	m := named.FindStringSubmatch(code[:offset])
	if m == nil {
		start, list = e.Notebook.Complete(code, offset)
		return start, list, nil
	}
	begun := m[3][strings.LastIndex(m[3], "+")+1:] // methods can be joined
	var names []string
	kind := strings.ToLower(m[1] + m[2])
	err = e.process.Load().call(context.Background(), "Names", kind, &names)
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
		return errors.New("stopped: what earlier cells made is still there")
	}
	var said strings.Builder
	scanner.PrintError(&said, err) // each one of a list
	lines, text := strings.Split(code, "\n"), ""
	for line := range strings.Lines(cell.Plain(said.String())) {
		text += line
		n := 0
		if fmt.Sscanf(line, name+":%d", &n); n > 0 && n <= len(lines) {
			text += "\t" + strings.TrimSpace(lines[n-1]) + "\n"
		}
	}
	return errors.New(strings.TrimSpace(text))
}

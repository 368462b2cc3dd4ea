// Package engine runs the cells of a notebook: it translates each into a package, builds a plugin of it, and loads that into
// the process in which all cells live on. It implements jupyter.Engine; begin with [New].
package engine

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// Engine runs cells. It is a [jupyter.Engine].
type Engine struct {
	settings   build.Settings
	hosts      string // where hosts of the module are built
	connection string // Jupyter's connection file
	dir        string // for the cells of this kernel
	notebook   *cell.Notebook
	process    atomic.Pointer[process] // the host that runs now

	mu      sync.Mutex
	newest  jupyter.Out   // of the cell that was started last
	running []jupyter.Out // of the cells that run, the newest last

	building sync.Mutex // cells of subshells are translated and built in turn
	past     history
}

// New starts an engine and its host, which is built into the folder hosts if there is none. connection is Jupyter's connection
// file.
func New(s build.Settings, hosts, connection string) (*Engine, error) {
	h, err := build.ReadHost(hosts)
	if err != nil { // Go's cache was cleaned
		if h, err = s.Go.Host(context.Background(), s.Module, hosts); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "parallelcl-notebook-")
	if err != nil {
		return nil, err
	}
	e := &Engine{settings: s, hosts: hosts, connection: connection, dir: dir, notebook: cell.New(h.Packages, s.Go.Root)}
	if err := e.start(h, e.builder(h)); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	go e.notebook.Warm(cell.Runtime, "fmt", "context", "github.com/parallelcl/parallelcl/pcl/experiment", "github.com/parallelcl/parallelcl/viz/nb")
	return e, nil
}

// builder returns a builder for cells of a host.
func (e *Engine) builder(h *build.Host) *build.Builder {
	return build.NewBuilder(e.settings.Go, e.dir, h.Packages)
}

// Close ends the host and removes all that the engine has written.
func (e *Engine) Close() error {
	e.process.Load().kill()
	return os.RemoveAll(e.dir)
}

// Execute runs a cell.
func (e *Engine) Execute(ctx context.Context, c jupyter.Cell, out jupyter.Out) error {
	e.mu.Lock()
	e.newest = out
	e.mu.Unlock()
	do := &commands{Engine: e, ctx: ctx, out: out}
	name := fmt.Sprintf("In[%d]", c.Number)
	err := do.run(cell.Read(c.Code))
	if err == nil && strings.TrimSpace(do.code) != "" {
		err = e.run(ctx, source{name, do.code}, out)
	}
	return explained(err, name, c.Code)
}

// run builds and runs the Go code of a cell.
func (e *Engine) run(ctx context.Context, s source, out jupyter.Out) error {
	id, file, err := e.build(ctx, s, out)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	e.mu.Lock()
	e.running = append(e.running, out)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		i := slices.Index(e.running, out)
		e.running = slices.Delete(e.running, i, i+1)
	}()
	p := e.process.Load()
	err = p.run(ctx, id, file)
	if p.life.Err() == nil {
		e.autosave(p)
		return err
	}
	e.building.Lock()
	defer e.building.Unlock()
	return errors.Join(err, e.ready(ctx, out, false))
}

// build makes a plugin of a cell. What it declares is known from then on.
func (e *Engine) build(ctx context.Context, s source, out jupyter.Out) (id int, file string, err error) {
	e.building.Lock()
	defer e.building.Unlock()
	if err := e.ready(ctx, out, false); err != nil {
		return 0, "", err
	}
	b := e.process.Load().builder
	c, err := e.compile(ctx, b, s)
	if err != nil {
		return 0, "", err
	}
	for _, note := range c.Notes {
		out.Stream("stderr", note+"\n")
	}
	if file, err = b.Plugin(ctx, c.ID); err != nil {
		return 0, "", err
	}
	e.commit(c)
	e.past.sources = append(e.past.sources, s)
	return c.ID, file, nil
}

// compile makes a package of a cell. It fetches what the cell imports and the host does not have.
func (e *Engine) compile(ctx context.Context, b *build.Builder, s source) (c *cell.Cell, err error) {
	c, err = e.notebook.Translate(s.file, s.code)
	if missing := cell.Missing(err); len(missing) > 0 {
		var added []cell.Package
		if added, err = b.Fetch(ctx, e.settings.Module, missing); err == nil {
			e.notebook.Add(added)
			c, err = e.notebook.Translate(s.file, s.code)
		}
	}
	if err == nil {
		err = b.Compile(ctx, c)
	}
	return c, err
}

func (e *Engine) commit(c *cell.Cell) {
	e.notebook.Commit(c)
	e.past.ids = append(e.past.ids, c.ID)
}

// busy says whether a cell runs.
func (e *Engine) busy() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.running) > 0
}

// Force replaces a host whose cells don't stop.
func (e *Engine) Force() {
	if e.busy() {
		e.process.Load().end()
	}
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

// text shows what the host writes.
func (e *Engine) text(stream, text string) {
	if out := e.out(); out != nil {
		out.Stream(stream, text)
	}
}

// Comm takes a message of a page.
func (e *Engine) Comm(_ context.Context, m jupyter.Comm, out jupyter.Out) error {
	return e.process.Load().page.Comm(m, out)
}

// IsComplete says whether code can run as it is.
func (e *Engine) IsComplete(code string) (status, indent string) {
	complete, invalid, depth := cell.Complete(code)
	switch {
	case complete:
		return "complete", ""
	case invalid:
		return "invalid", ""
	}
	return "incomplete", strings.Repeat("\t", depth)
}

// explained makes an error of a cell readable in a notebook.
func explained(err error, name, code string) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return &jupyter.Error{Name: "Stopped", Value: "Stopped.", Traceback: []string{"Stopped. What earlier cells made is still there."}}
	}
	e := &jupyter.Error{Name: "Error"}
	var said strings.Builder
	scanner.PrintError(&said, err) // each one of a list
	lines := strings.Split(code, "\n")
	for text := range strings.SplitSeq(strings.TrimSpace(cell.Plain(said.String())), "\n") {
		e.Traceback = append(e.Traceback, text)
		n := 0
		if fmt.Sscanf(text, name+":%d", &n); n > 0 && n <= len(lines) {
			e.Traceback = append(e.Traceback, "\t"+strings.TrimSpace(lines[n-1]))
		}
	}
	e.Value = e.Traceback[0]
	return e
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

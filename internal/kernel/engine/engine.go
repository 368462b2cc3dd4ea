// Package engine runs the cells of a notebook: it translates each into a package, builds a plugin of it, and loads that into
// the process in which all cells live on. It implements jupyter.Engine; begin with [New].
package engine

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// Config says what an engine works with.
type Config struct {
	Go     *build.Go
	Module string      // the folder of the module whose packages cells use
	Dir    string      // where hosts of the module are built
	Host   *build.Host // the one to begin with

	Connection string // Jupyter's connection file
}

// Engine runs cells. It is a [jupyter.Engine].
type Engine struct {
	config   Config
	dir      string // for the cells of this kernel
	notebook *cell.Notebook
	process  atomic.Pointer[process] // the host that runs now

	mu     sync.Mutex
	newest jupyter.Out         // of the cell that was started last
	cells  map[int]jupyter.Out // of those that run

	building sync.Mutex // cells of subshells are translated and built in turn
	past     history
}

// New starts an engine and its host.
func New(c Config) (*Engine, error) {
	dir, err := os.MkdirTemp("", "parallelcl-notebook-")
	if err != nil {
		return nil, err
	}
	e := &Engine{config: c, dir: dir, notebook: cell.New(c.Host.Packages, c.Go.Root), cells: map[int]jupyter.Out{}}
	if err := e.begin(c.Host); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	go e.notebook.Warm(cell.Runtime, "fmt", "context", "github.com/parallelcl/parallelcl/pcl/experiment", "github.com/parallelcl/parallelcl/viz/nb")
	return e, nil
}

// begin starts a host, without any cells.
func (e *Engine) begin(h *build.Host) error {
	return e.start(h, build.NewBuilder(e.config.Go, e.dir, h.Packages))
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
	err := do.run(cell.Read(c.Code))
	if err == nil && strings.TrimSpace(do.code+do.call) != "" {
		err = e.run(ctx, source{fmt.Sprintf("In[%d]", c.Number), do.code}, do.call, out)
	}
	return explained(err, c.Code)
}

// run builds and runs the Go code of a cell.
func (e *Engine) run(ctx context.Context, s source, call string, out jupyter.Out) error {
	id, file, err := e.prepare(ctx, s, call, out)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	p := e.process.Load()
	e.mu.Lock()
	e.cells[id], e.newest = out, out
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.cells, id)
		e.mu.Unlock()
	}()
	stop := context.AfterFunc(ctx, func() { p.send(wire.Request{ID: -1, Op: "stop", Cell: id}) })
	defer stop()
	answer, err := p.call(context.WithoutCancel(ctx), wire.Request{Op: "run", Cell: id, Path: file})
	p.drain()
	switch {
	case err != nil && p.hasEnded():
		return e.lost(p)
	case err != nil:
		return err
	}
	e.autosave(p, answer.Bytes)
	switch {
	case answer.Failure == nil:
		return nil
	case answer.Failure.Name == "stopped":
		return errStopped
	}
	return answer.Failure
}

// prepare makes a plugin of a cell. What it declares is known from then on.
func (e *Engine) prepare(ctx context.Context, s source, call string, out jupyter.Out) (id int, file string, err error) {
	e.building.Lock()
	defer e.building.Unlock()
	if err := e.current(ctx, out); err != nil {
		return 0, "", err
	}
	b := e.process.Load().builder
	t, err := e.notebook.Translate(s.file, s.code+call)
	if missing := cell.Missing(err); len(missing) > 0 {
		if err := e.fetch(ctx, b, missing); err != nil {
			return 0, "", err
		}
		t, err = e.notebook.Translate(s.file, s.code+call)
	}
	if err != nil {
		return 0, "", err
	}
	for _, note := range t.Notes {
		out.Stream("stderr", note+"\n")
	}
	if err := b.Compile(ctx, t); err != nil {
		return 0, "", err
	}
	if file, err = b.Plugin(ctx, t.ID); err != nil {
		return 0, "", err
	}
	e.notebook.Commit(t)
	e.past.sources, e.past.ids = append(e.past.sources, s), append(e.past.ids, t.ID)
	return t.ID, file, nil
}

// fetch brings packages that a cell imports and the host does not have.
func (e *Engine) fetch(ctx context.Context, b *build.Builder, paths []string) error {
	added, err := b.Fetch(ctx, e.config.Module, paths)
	if err == nil {
		e.notebook.Add(added)
		e.past.fetched = append(e.past.fetched, paths...)
	}
	return err
}

// errStopped is the error of a cell that the user has stopped.
var errStopped = &jupyter.Error{Name: "Stopped", Value: "Stopped.", Traceback: []string{"Stopped. What earlier cells made is still there."}}

// Force replaces a host whose cells don't stop.
func (e *Engine) Force() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.cells) > 0 {
		e.process.Load().end()
	}
}

// lost brings a new host in place of one that has ended. The error says why, and what has come along.
func (e *Engine) lost(p *process) error {
	e.building.Lock()
	defer e.building.Unlock()
	if e.process.Load() != p { // another cell has already brought one
		return p.err()
	}
	text, err := e.renew(context.Background(), p, p.host)
	return errors.Join(errors.New(text), err)
}

// text shows what the host writes. It belongs to the newest cell, whichever has written it.
func (e *Engine) text(stream, text string) {
	if out := e.out(0); out != nil {
		out.Stream(stream, text)
	}
}

// out is the output of a cell that runs, or else of the newest one.
func (e *Engine) out(id int) jupyter.Out {
	e.mu.Lock()
	defer e.mu.Unlock()
	if out, ok := e.cells[id]; ok {
		return out
	}
	return e.newest
}

// input asks the user for a line that a cell wants to read.
func (e *Engine) input(p *process, a wire.Answer) {
	line, err := e.out(a.Cell).Input(context.Background(), "", false)
	r := wire.Request{ID: a.ID, Op: "input"}
	if err == nil {
		r.List = []string{line}
	}
	p.send(r)
}

// display shows what the host sends by package gonbui: values of widgets, questions to the user, and rich output.
func (e *Engine) display(p *process, d *protocol.DisplayData) {
	out := e.out(0)
	if out == nil {
		return
	}
	if r, ok := d.Data[protocol.MIMEJupyterInput].(protocol.InputRequest); ok {
		go func() { // the cell reads the line from its standard input
			line, _ := out.Input(context.Background(), r.Prompt, r.Password) // which is empty where nobody can answer
			p.send(wire.Request{ID: -1, Op: "input", List: []string{line}})
		}()
		return
	}
	if p.page.Takes(d, out) {
		return
	}
	data := map[string]any{}
	for kind, v := range d.Data {
		data[string(kind)] = v
	}
	shown := jupyter.Display{Data: data, Metadata: d.Metadata}
	if d.Metadata[wire.Result] == true {
		shown.Result, shown.Metadata = true, nil
	}
	if d.DisplayID != "" {
		shown.ID, shown.Update = p.page.Place(d.DisplayID, out)
	}
	out.Display(shown)
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

// explained makes an error readable in a notebook.
func explained(err error, code string) error {
	var m scanner.ErrorList
	var f *wire.Failure
	var tool *build.Failed
	e := new(jupyter.Error)
	switch {
	case errors.Is(err, context.Canceled):
		return errStopped
	case errors.As(err, &m):
		e.Name, e.Value = "Mistake", m[0].Error()
		for _, one := range m {
			e.Traceback = append(e.Traceback, one.Error())
			e.Traceback = append(e.Traceback, quoted(fmt.Sprintf("%s:%d", one.Pos.Filename, one.Pos.Line), code)...)
		}
	case errors.As(err, &f):
		text := cell.Plain(f.Error())
		e.Name, e.Value = strings.ToUpper(f.Name[:1])+f.Name[1:], firstLine(text)
		e.Traceback = append(strings.Split(text, "\n"), quoted(f.Place(), code)...)
		for _, line := range f.Trace[min(1, len(f.Trace)):] {
			e.Traceback = append(e.Traceback, "\tcalled at "+cell.Plain(line))
		}
	case errors.As(err, &tool):
		text := cell.Plain(tool.Output)
		e.Name, e.Value, e.Traceback = "Build error", firstLine(text), strings.Split(text, "\n")
	default:
		return err
	}
	return e
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// quoted is the line of a cell at a place.
func quoted(place, code string) []string {
	var n, line int
	_, err := fmt.Sscanf(place, "In[%d]:%d", &n, &line)
	lines := strings.Split(code, "\n")
	if err != nil || line < 1 || line > len(lines) {
		return nil
	}
	return []string{"\t" + strings.TrimSpace(lines[line-1])}
}

// Package engine runs the cells of a notebook: it translates each into a package, builds a plugin of it, and loads that into
// the process in which all cells live on. It implements jupyter.Engine; begin with [New].
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/page"
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
	commands commands

	mu      sync.Mutex
	host    *build.Host
	builder *build.Builder
	process *process
	page    *page.Bridge
	newest  jupyter.Out         // of the cell that was started last
	cells   map[int]jupyter.Out // of those that run

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
	e.commands = commands{engine: e, env: map[string]string{}}
	if err := e.begin(c.Host, false); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	go e.notebook.Warm(cell.Runtime, "fmt", "context", "github.com/parallelcl/parallelcl/pcl/experiment", "github.com/parallelcl/parallelcl/viz/nb")
	return e, nil
}

// begin starts a host. With the packages of before, the cells that were built for them can be used again.
func (e *Engine) begin(h *build.Host, same bool) error {
	p, err := startProcess(h, e.dir, e)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !same {
		e.builder = &build.Builder{Go: e.config.Go, Dir: e.dir}
		e.builder.Add(h.Packages)
	}
	e.host, e.process, e.page = h, p, e.newBridge(p)
	return nil
}

// Close ends the host and removes all that the engine has written.
func (e *Engine) Close() error {
	e.mu.Lock()
	p := e.process
	e.mu.Unlock()
	p.kill()
	return os.RemoveAll(e.dir)
}

// Execute runs a cell.
func (e *Engine) Execute(ctx context.Context, c jupyter.Cell, out jupyter.Out) error {
	e.mu.Lock()
	e.newest = out
	e.mu.Unlock()
	s := cell.Read(c.Code)
	out, done := e.commands.capturing(s, out)
	defer done()
	rest, err := e.commands.run(ctx, s, out)
	if err != nil || strings.TrimSpace(rest.Go) == "" && rest.call == "" {
		return explained(err, c.Code)
	}
	return explained(e.run(ctx, c, rest, out), c.Code)
}

// run builds and runs the Go code of a cell.
func (e *Engine) run(ctx context.Context, c jupyter.Cell, rest code, out jupyter.Out) error {
	t, file, err := e.prepare(ctx, c, rest, out)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	e.mu.Lock()
	p := e.process
	e.cells[t.ID], e.newest = out, out
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.cells, t.ID)
		e.mu.Unlock()
	}()
	answer, err := e.execute(ctx, p, wire.Request{Op: "run", Cell: t.ID, Path: file, List: []string{codeOf(t)}})
	p.drain()
	switch {
	case err != nil && ended(p):
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
	return failed{answer.Failure}
}

// prepare makes a plugin of a cell. What it declares is known from then on.
func (e *Engine) prepare(ctx context.Context, c jupyter.Cell, rest code, out jupyter.Out) (t *cell.Cell, file string, err error) {
	e.building.Lock()
	defer e.building.Unlock()
	if err := e.current(ctx, out); err != nil {
		return nil, "", err
	}
	e.mu.Lock()
	b := e.builder
	e.mu.Unlock()
	if err := e.fetch(ctx, b, rest.Go, out); err != nil {
		return nil, "", err
	}
	if t, err = e.notebook.Translate(fmt.Sprintf("In[%d]", c.Number), rest.Go+rest.call); err != nil {
		return nil, "", err
	}
	for _, note := range t.Notes {
		out.Stream("stderr", note+"\n")
	}
	archive, err := b.Compile(ctx, t)
	if err == nil {
		file, err = b.Plugin(ctx, t.ID)
	}
	if err != nil {
		return nil, "", err
	}
	e.notebook.Commit(t, archive)
	e.past.sources = append(e.past.sources, source{fmt.Sprintf("In[%d]", c.Number), rest.Go})
	e.past.add(t)
	return t, file, nil
}

// fetch brings the packages that a cell imports and the host does not have.
func (e *Engine) fetch(ctx context.Context, b *build.Builder, code string, out jupyter.Out) error {
	var missing []string
	for _, p := range cell.Imports(code) {
		if _, ok := b.Export(p); !ok {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 || e.commands.noGet {
		return nil
	}
	added, err := b.Fetch(ctx, e.config.Module, missing)
	if err != nil {
		return err
	}
	e.notebook.Add(added)
	e.past.fetched = append(e.past.fetched, missing...)
	return nil
}

// execute has the host run a cell, and stops it when ctx ends.
func (e *Engine) execute(ctx context.Context, p *process, r wire.Request) (wire.Answer, error) {
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ctx.Done():
			p.send(wire.Request{ID: -1, Op: "stop", Cell: r.Cell})
		case <-ended:
		}
	}()
	return p.call(context.WithoutCancel(ctx), r)
}

// errStopped is the error of a cell that the user has stopped.
var errStopped = &jupyter.Error{Name: "Stopped", Value: "Stopped.", Traceback: []string{"Stopped. What earlier cells made is still there."}}

// ended says whether a host has ended.
func ended(p *process) bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Force replaces a host whose cells don't stop.
func (e *Engine) Force() {
	e.mu.Lock()
	p := e.process
	busy := len(e.cells) > 0
	e.mu.Unlock()
	if busy {
		killGroup(p.cmd)
	}
}

// lost brings a new host in place of one that has ended. The error says why, and what has come along.
func (e *Engine) lost(p *process) error {
	e.building.Lock()
	defer e.building.Unlock()
	e.mu.Lock()
	host, current := e.host, e.process
	e.mu.Unlock()
	if current != p { // another cell has already brought one
		return p.err()
	}
	text, err := e.renew(context.Background(), p, host)
	return errors.Join(errors.New(strings.TrimSuffix(text, "\n")), err)
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

// display shows what the host sends by package gonbui.
func (e *Engine) display(d *protocol.DisplayData) {
	out := e.out(0)
	if out == nil || e.takes(d, out) {
		return
	}
	data := map[string]any{}
	for kind, v := range d.Data {
		switch v := v.(type) {
		case []byte:
			if kind == protocol.MIMEImagePNG || strings.HasPrefix(string(kind), "image/") && kind != protocol.MIMEImageSVG {
				data[string(kind)] = v
			} else {
				data[string(kind)] = string(v)
			}
		default:
			data[string(kind)] = v
		}
	}
	shown := jupyter.Display{Data: data, Metadata: d.Metadata}
	if d.DisplayID != "" {
		shown.ID, shown.Update = e.bridge().Place(d.DisplayID, out)
	}
	out.Display(shown)
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
	var m cell.Mistakes
	var f failed
	var tool *build.Failed
	switch {
	case err == nil:
		return nil
	case errors.As(err, &m):
		return mistaken(m, code)
	case errors.As(err, &f):
		return f.explain(code)
	case errors.As(err, &tool):
		return &jupyter.Error{Name: "Build error", Value: firstLine(cell.Plain(tool.Output)), Traceback: strings.Split(cell.Plain(tool.Output), "\n")}
	case errors.Is(err, context.Canceled):
		return errStopped
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// failed is the error of a cell that did not reach its end.
type failed struct{ *wire.Failure }

func (f failed) Error() string { return cell.Plain(f.Failure.String()) }

func (f failed) explain(code string) *jupyter.Error {
	names := map[string]string{"error": "Error", "panic": "Panic", "exit": "Exit"}
	e := &jupyter.Error{Name: names[f.Name], Value: firstLine(f.Error()), Traceback: strings.Split(f.Error(), "\n")}
	if n := len(f.Trace); n > 0 {
		e.Traceback = append(e.Traceback, quoted(f.Place(), code)...)
		for _, line := range f.Trace[1:] {
			e.Traceback = append(e.Traceback, "\tcalled at "+cell.Plain(line))
		}
	}
	return e
}

func mistaken(m cell.Mistakes, code string) *jupyter.Error {
	e := &jupyter.Error{Name: "Mistake", Value: m[0].String()}
	for _, one := range m {
		e.Traceback = append(e.Traceback, one.String())
		e.Traceback = append(e.Traceback, quoted(fmt.Sprintf("%s:%d", one.File, one.Line), code)...)
	}
	return e
}

// quoted is the line of a cell at a place.
func quoted(place, code string) []string {
	var n, line int
	if _, err := fmt.Sscanf(place, "In[%d]:%d", &n, &line); err != nil {
		return nil
	}
	lines := strings.Split(code, "\n")
	if line < 1 || line > len(lines) {
		return nil
	}
	return []string{"\t" + strings.TrimSpace(lines[line-1])}
}

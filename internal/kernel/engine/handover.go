package engine

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
	"github.com/parallelcl/parallelcl/internal/origin"
)

// A host is replaced when it has ended, when the module has changed, which only a new program can load, and when it has grown
// too large, since plugins are never unloaded. What cells have declared is declared again in the new one, and variables get
// the values that the old one has saved.

// source is the Go code of a cell that has run.
type source struct{ file, code string }

// history is what a new host is to be told.
type history struct {
	sources []source
	ids     []int    // of the cells as they are compiled now
	fetched []string // packages of others
	saved   string   // the folder of the last autosave
	cost    time.Duration
	at      time.Time
	refused string // the fingerprint of a module whose host was not taken, so as to keep a learner
	heavy   bool   // the host has grown too large
}

// current makes sure that a host runs and has the module's packages as they are.
func (e *Engine) current(ctx context.Context, out jupyter.Out) error {
	e.mu.Lock()
	alone := len(e.cells) == 0
	e.mu.Unlock()
	p := e.process.Load()
	h := p.host
	if p.hasEnded() {
		text, err := e.renew(ctx, p, h)
		out.Stream("stderr", text+"\n")
		return err
	}
	source := origin.Fingerprint(e.config.Module)
	changed := source != h.Source && source != e.past.refused
	if !alone || !changed && !e.past.heavy {
		return nil
	}
	if changed {
		next, err := e.config.Go.Host(ctx, e.config.Module, e.config.Dir)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			e.past.refused = source
			out.Stream("stderr", "The module has changed, but does not build. Cells go on with it as it was.\n"+err.Error()+"\n")
			return nil
		}
		h = next
	}
	return e.handover(ctx, p, h, false, out)
}

// handover replaces a host that runs. If a learner cannot come along the old one stays, unless force is set.
func (e *Engine) handover(ctx context.Context, p *process, h *build.Host, force bool, out jupyter.Out) error {
	dir, err := os.MkdirTemp(e.dir, "handover")
	if err != nil {
		return err
	}
	a, err := e.save(ctx, p, "save", dir)
	if err != nil {
		os.RemoveAll(dir)
		return fmt.Errorf("the values of the notebook cannot be saved: %w", err)
	}
	if len(a.Learners) > 0 && !force {
		e.past.refused, e.past.heavy = h.Source, false
		out.Stream("stderr", "The process of the cells should be replaced, since the module has changed or memory has grown, but "+
			a.Learners[len(a.Learners)-1]+". Cells go on in the old one; %handover replaces it all the same.\n")
		return os.RemoveAll(dir)
	}
	e.past.saved = dir
	text, err := e.renew(ctx, p, h)
	if lost := append(a.Learners, a.List...); len(lost) > 0 {
		text += " These did not come along: " + strings.Join(lost, ", ") + "."
	}
	out.Stream("stderr", text+"\n")
	return err
}

// save has a host save the variables: by "save", or by "autosave", which leaves out what is large or may be changing.
func (e *Engine) save(ctx context.Context, p *process, op, dir string) (wire.Answer, error) {
	var names []string
	for _, v := range e.notebook.Names("variable") {
		names = append(names, v.Name)
	}
	return p.call(ctx, wire.Request{Op: op, Path: dir, List: names})
}

// autosave saves what a new host could begin with, if this one, which uses so much memory, should end. It takes little of the
// user's time.
func (e *Engine) autosave(p *process, memory int64) {
	e.building.Lock()
	defer e.building.Unlock()
	e.past.heavy = memory > memoryLimit()
	if time.Since(e.past.at) < 30*e.past.cost || p.hasEnded() {
		return
	}
	begin := time.Now()
	dir, err := os.MkdirTemp(e.dir, "autosave")
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := e.save(ctx, p, "autosave", dir); err != nil {
		os.RemoveAll(dir)
		return
	}
	os.RemoveAll(e.past.saved)
	e.past.saved, e.past.at, e.past.cost = dir, time.Now(), time.Since(begin)
}

// renew starts a host in place of p, and tells it what cells have declared and saved. The text says what has come along.
func (e *Engine) renew(ctx context.Context, p *process, h *build.Host) (text string, err error) {
	same := h.Source == p.host.Source // so that what was compiled for it can be used again
	why := "%handover asked for it"
	switch {
	case p.hasEnded():
		why = fmt.Sprintf("the old one has ended (%v)", p.why)
	case !same:
		why = "the module has changed"
	case e.past.heavy:
		why = "the old one had grown too large"
	}
	text = "The cells have a new process: " + why + "."
	b := p.builder
	if !same {
		b = build.NewBuilder(e.config.Go, e.dir, h.Packages)
	}
	if err := e.start(h, b); err != nil {
		return text, err
	}
	e.past.heavy = false
	p.kill()
	if !same {
		text += e.translateAgain(ctx, h, b)
	}
	text += e.declareAgain(ctx, b)
	if e.past.saved == "" {
		return text, nil
	}
	a, err := e.ask(ctx, wire.Request{Op: "restore", Path: e.past.saved})
	if err != nil {
		return text + " " + err.Error(), nil
	}
	if len(a.List) > 0 {
		text += " Not restored: " + strings.Join(a.List, "; ") + "."
	}
	if len(a.Names) > 0 {
		text += " Restored: " + strings.Join(a.Names, ", ") + "."
	}
	return text, nil
}

// translateAgain translates all cells for another host.
func (e *Engine) translateAgain(ctx context.Context, h *build.Host, b *build.Builder) (text string) {
	e.notebook.Reset(h.Packages)
	if len(e.past.fetched) > 0 {
		if added, err := b.Fetch(ctx, e.config.Module, e.past.fetched); err == nil {
			e.notebook.Add(added)
		}
	}
	e.past.ids = nil
	for _, s := range e.past.sources {
		t, err := e.notebook.Translate(s.file, s.code)
		if err == nil {
			if err = b.Compile(ctx, t); err == nil {
				e.notebook.Commit(t)
				e.past.ids = append(e.past.ids, t.ID)
			}
		}
		if err != nil {
			text += fmt.Sprintf(" %s no longer builds (%s).", s.file, firstLine(cell.Plain(err.Error())))
		}
	}
	return text
}

// declareAgain has a new host declare and register what cells have.
func (e *Engine) declareAgain(ctx context.Context, b *build.Builder) (text string) {
	if len(e.past.ids) == 0 {
		return ""
	}
	file, err := b.Replay(ctx, e.past.ids)
	if err != nil {
		return " What cells have declared is gone: " + firstLine(cell.Plain(err.Error())) + "."
	}
	defer os.Remove(file)
	a, err := e.ask(ctx, wire.Request{Op: "run", Cell: 1 << 30, Path: file})
	if err != nil {
		return " " + err.Error() + "."
	}
	if a.Failure != nil {
		return " " + cell.Plain(a.Failure.Error()) + "."
	}
	return ""
}

// takeOver is %handover.
func (e *Engine) takeOver(ctx context.Context, out jupyter.Out) error {
	e.building.Lock()
	defer e.building.Unlock()
	h, err := e.config.Go.Host(ctx, e.config.Module, e.config.Dir)
	if err != nil {
		return err
	}
	return e.handover(ctx, e.process.Load(), h, true, out)
}

// memoryVariable is the variable of the environment that says how many megabytes the process of the cells may have to itself
// before a new one takes its place.
const memoryVariable = "PARALLELCL_NOTEBOOK_MEMORY"

// memoryLimit is how large a host may grow: by default three quarters of the machine's memory.
func memoryLimit() int64 {
	if mb, err := strconv.ParseInt(os.Getenv(memoryVariable), 10, 64); err == nil && mb > 0 {
		return mb << 20
	}
	data, err := os.ReadFile("/proc/meminfo")
	var kb int64
	if _, scanned := fmt.Sscanf(string(data), "MemTotal: %d kB", &kb); err != nil || scanned != nil {
		return 1 << 62
	}
	return kb << 10 / 4 * 3
}

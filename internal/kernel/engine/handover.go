package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// A host is replaced when it has ended, when the module has changed, which only a new program can load, and when it has grown
// too large, since plugins are never unloaded. What cells have declared is declared again in the new one, and variables get
// the values that the old one has saved.

// history is what a new host is to be told.
type history struct {
	sources []cell.Source // that have run
	ids     []int         // of the cells as they are compiled now
	saved   string        // the folder in which values were saved last
	due     time.Time     // when they may be saved again
	refused string        // why a new host was not taken
}

// ready makes sure that a host runs that has the module's packages as they are, and has not grown too large. If a learner
// cannot come along to a new one the old one stays, unless force is set, which wants a new one in any case.
func (e *Engine) ready(ctx context.Context, out jupyter.Out, force bool) error {
	p := e.process.Load()
	if p.life.Err() != nil {
		h, err := p.builder.Current(context.WithoutCancel(ctx))
		if err != nil {
			h = p.builder.Host
		}
		return e.renew(out, h, fmt.Sprintf("the old one has ended (%v)", context.Cause(p.life)), nil)
	}
	source, why := origin.Fingerprint(p.builder.Module), ""
	switch {
	case force:
		why = "%handover asked for it"
	case e.busy():
	case source != p.builder.Source:
		why = "the module has changed"
	case tooLarge(p.cmd.Process.Pid):
		why = "the old one had grown too large"
	}
	if why == "" || why+source == e.past.refused {
		return nil
	}
	var lost rt.Lost
	h, err := p.builder.Current(ctx)
	if err == nil {
		lost, err = e.save(ctx, p, false)
	}
	if err == nil && len(lost.Learners) > 0 && !force {
		err = errors.New(strings.Join(lost.Learners, "; ") + ". %handover replaces it all the same.")
	}
	switch {
	case err == nil:
		return e.renew(out, h, why, append(lost.Learners, lost.Others...))
	case force, ctx.Err() != nil:
		return err
	}
	e.past.refused = why + source
	out.Stream("stderr", "The cells should have a new process ("+why+"), but they go on in the old one: "+err.Error()+"\n")
	return nil
}

// busy says whether other cells run than the one that asks.
func (e *Engine) busy() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.running) > 1
}

// save has a host save the variables: quickly after a cell, in case that the next one ends the host.
func (e *Engine) save(ctx context.Context, p *process, quick bool) (lost rt.Lost, err error) {
	defer fail.Caught(&err)
	r := rt.Saving{Dir: fail.Or(os.MkdirTemp(e.dir, "saved")), Quick: quick}
	for _, v := range e.Names("variable") {
		r.Names = append(r.Names, v.Name)
	}
	if err := p.call(ctx, "Save", r, &lost); err != nil {
		os.RemoveAll(r.Dir)
		return lost, err
	}
	os.RemoveAll(e.past.saved)
	e.past.saved = r.Dir
	return lost, nil
}

// autosave saves what a new host could begin with, at most for half of the time.
func (e *Engine) autosave(p *process) {
	begin := time.Now()
	if begin.Before(e.past.due) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e.save(ctx, p, true) // if that fails, what was saved before stays
	e.past.due = time.Now().Add(time.Since(begin))
}

// renew starts a host in place of the one there is, tells it what cells have declared and saved, and says what came along.
func (e *Engine) renew(out jupyter.Out, h *build.Host, why string, lost []string) error {
	old, ctx := e.process.Load(), context.Background()
	text := "The cells have a new process: " + why + "."
	b := old.builder
	same := h.Source == b.Source // so that what was compiled for it can be used again
	if !same {
		b = h.Builder(e.dir)
	}
	if err := e.start(b); err != nil {
		return err
	}
	old.kill()
	p := e.process.Load()
	if !same {
		text += e.compileAgain(ctx, b)
	}
	if err := e.declareAgain(ctx, p); err != nil {
		text += " What cells have declared is gone: " + printable.Line(cell.Plain(err.Error())) + "."
	}
	if e.past.saved != "" {
		var restored string
		if err := p.call(ctx, "Restore", e.past.saved, &restored); err != nil {
			restored = " " + err.Error()
		}
		text += restored
	}
	out.Stream("stderr", text+rt.Sentence("These did not come along", lost)+"\n")
	return nil
}

// compileAgain compiles all cells for another host.
func (e *Engine) compileAgain(ctx context.Context, b *build.Builder) (text string) {
	e.Reset(b.Packages)
	e.past.ids = nil
	for _, s := range e.past.sources {
		c, err := e.compile(ctx, b, s)
		if err != nil {
			text += fmt.Sprintf(" %s no longer builds (%s).", s.File, printable.Line(cell.Plain(err.Error())))
			continue
		}
		e.commit(c)
	}
	return text
}

// declareAgain has a new host declare and register what cells have.
func (e *Engine) declareAgain(ctx context.Context, p *process) (err error) {
	defer fail.Caught(&err)
	if len(e.past.ids) == 0 {
		return nil
	}
	file := fail.Or(p.builder.Link(ctx, cell.Replay, e.past.ids...))
	defer os.Remove(file)
	return p.run(ctx, 1<<30, file)
}

// memoryVariable is the variable of the environment that says how many megabytes the process of the cells may have to itself
// before a new one takes its place: by default three quarters of the machine's memory.
const memoryVariable = "PARALLELCL_NOTEBOOK_MEMORY"

func tooLarge(pid int) bool {
	limit := kilobytes("/proc/meminfo", "MemTotal") / 4 * 3
	if mb, err := strconv.Atoi(os.Getenv(memoryVariable)); err == nil {
		limit = mb << 10
	}
	return kilobytes(fmt.Sprintf("/proc/%d/status", pid), "RssAnon") > limit
}

// kilobytes reads a value that the system says in a file. It is 0 on other systems than Linux.
func kilobytes(file, name string) (kb int) {
	data, _ := os.ReadFile(file)
	_, value, _ := strings.Cut(string(data), name+":")
	fmt.Sscan(value, &kb)
	return kb
}

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
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
	saved   string        // the folder in which values were saved last
	due     time.Time     // when they may be saved again
	refused string        // why a new host was not taken
}

// ready makes sure that a host runs that has the module's packages as they are, and has not grown too large. If a learner
// cannot come along to a new one the old one stays, unless force is set, which wants a new one in any case.
func (e *notebook) ready(r *request, force bool) {
	p := e.process.Load()
	if p.life.Err() != nil {
		h, err := p.host.Current(context.WithoutCancel(r.ctx))
		if err != nil {
			h = p.host
		}
		e.renew(r, h, fmt.Sprintf("the old one has ended (%v)", context.Cause(p.life)), nil)
		return
	}
	source, why := origin.Fingerprint(p.host.Module), ""
	switch {
	case force:
		why = "%handover asked for it"
	case e.server.busy():
	case source != p.host.Source:
		why = "the module has changed"
	case tooLarge(p.cmd.Process.Pid):
		why = "the old one had grown too large"
	}
	if why == "" || why+source == e.past.refused {
		return
	}
	var h *build.Host
	var lost rt.Lost
	err := fail.Tried(func() {
		h = fail.Or(p.host.Current(r.ctx))
		lost = fail.Or(e.save(r.ctx, p, false))
		refused := len(lost.Learners) > 0 && !force && p.host.Go.Plugins
		fail.When(refused, "%s. %%handover replaces it all the same.", strings.Join(lost.Learners, "; "))
	})
	switch {
	case err == nil:
		e.renew(r, h, why, append(lost.Learners, lost.Others...))
	case force, r.ctx.Err() != nil:
		fail.If(err)
	default:
		e.past.refused = why + source
		r.stream("stderr", fmt.Sprintf("The cells should have a new process (%s), but they go on in the old one: %v\n", why, err))
	}
}

// save has a host save the variables: quickly after a cell, in case that the next one ends the host.
func (e *notebook) save(ctx context.Context, p *process, quick bool) (lost rt.Lost, err error) {
	defer fail.Caught(&err)
	r := rt.Saving{Dir: fail.Or(os.MkdirTemp(e.dir, "saved")), Quick: quick}
	for _, v := range p.Names("var") {
		r.Names = append(r.Names, v.Name)
	}
	old := e.past.saved
	if err = p.call(ctx, "Save", r, &lost); err == nil {
		e.past.saved = r.Dir
	} else {
		old = r.Dir
	}
	os.RemoveAll(old)
	return lost, err
}

// autosave saves what a new host could begin with, at most for half of the time.
func (e *notebook) autosave(p *process) {
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
func (e *notebook) renew(r *request, h *build.Host, why string, lost []string) {
	old, ctx := e.process.Load(), context.Background()
	text := "The cells have a new process: " + why + "."
	p := old.again() // what was compiled for it can be used again
	if h.Source != old.host.Source || len(e.past.sources) == 0 {
		p = newProcess(h.In(e.dir))
		text += p.compileAgain(ctx, e.past.sources)
	}
	not, came := e.replace(ctx, p)
	r.stream("stderr", text+not+came+rt.Sentence("These did not come along", lost)+"\n")
}

// again is a host with the same cells, to be started.
func (p *process) again() *process {
	return &process{Notebook: p.Notebook, cells: p.cells, host: p.host}
}

// follow starts a host that can run a cell in place of one whose cells are no plugins, and says what did not come along.
func (e *notebook) follow(r *request, old *process, id int) (p *process) {
	lost := fail.Or(e.save(r.ctx, old, false))
	p = old.again()
	not, _ := e.replace(r.ctx, p, id)
	if not += rt.Sentence("These did not come along", append(lost.Learners, lost.Others...)); not != "" {
		r.stream("stderr", strings.TrimSpace(not)+"\n")
	}
	return p
}

// replace starts a host in place of the one there is. It tells it what cells have declared and saved, and says what came along.
func (e *notebook) replace(ctx context.Context, p *process, run ...int) (not, came string) {
	fail.If(e.start(ctx, p, run...))
	ctx = context.WithoutCancel(ctx) // the values of the old one are only in files from now on
	e.process.Swap(p).kill()
	e.page.forget()
	if err := p.declareAgain(ctx); err != nil {
		not = " What cells have declared is gone: " + printable.Line(cell.Plain(err.Error())) + "."
	}
	if e.past.saved == "" {
		return not, ""
	}
	var texts [2]string
	if err := p.call(ctx, "Restore", e.past.saved, &texts); err != nil {
		texts[0] = " " + err.Error()
	}
	return not + texts[0], texts[1]
}

// compileAgain compiles all cells for another host.
func (p *process) compileAgain(ctx context.Context, sources []cell.Source) (text string) {
	for _, s := range sources {
		if err := fail.Tried(func() { p.commit(p.compile(ctx, s)) }); err != nil {
			text += fmt.Sprintf(" %s no longer builds (%s).", s.File, printable.Line(cell.Plain(err.Error())))
		}
	}
	return text
}

// declareAgain has a new host declare and register what cells have.
func (p *process) declareAgain(ctx context.Context) (err error) {
	defer fail.Caught(&err)
	if len(p.cells) == 0 {
		return nil
	}
	file := ""
	if p.host.Go.Plugins {
		file = fail.Or(p.host.Link(ctx, p.cells))
		defer os.Remove(file)
	}
	return p.run(ctx, 1<<30, file, "Replay")
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

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// A host is replaced when it has ended, when the module has changed, which only a new program can
// load, and when it has grown too large, since plugins are never unloaded; where there are no
// plugins, for each cell. The new host declares again what cells have declared, and its variables
// get the values that the old one has saved.

// history is what a new host is to be told.
type history struct {
	sources []cell.Source // that have run
	saved   string        // the folder in which values were saved last
	after   string        // the cell after which that was
	due     time.Time     // when they may be saved again
	refused string        // why a new host was not taken
}

// ready makes sure that a host runs that has the module's packages as they are, and has not grown
// too large. If a learner cannot come along to a new one the old one stays, unless force is set,
// which wants a new one in any case.
func (e *notebook) ready(r *request, force bool, when string) error {
	p := e.process.Load()
	if p.life.Err() != nil {
		h, err := p.Current(context.WithoutCancel(r.ctx))
		if err != nil {
			h = p.Host
		}
		_, err = e.renew(r, h, fmt.Sprintf("the old one has ended (%v)", context.Cause(p.life)), when, rt.Lost{})
		return err
	}
	source, why := origin.Fingerprint(p.Module), ""
	switch {
	case force:
		why = "%handover asked for it"
	case e.server.busy():
	case source != p.Source:
		why = "the module has changed"
	case tooLarge(p.cmd.Process.Pid):
		why = "the old one had grown too large"
	}
	if why == "" || why+source == e.past.refused {
		return nil
	}
	err := e.replace(r, p, force, why, when)
	if err == nil || force || r.ctx.Err() != nil {
		return err
	}
	e.past.refused = why + source
	r.stream("stderr", fmt.Sprintf("The cells should have a new process (%s), but they go on in the old one: %v\n", why,
		err))
	return nil
}

// replace replaces a host that still runs. A learner that cannot come along is an error, unless
// force is set.
func (e *notebook) replace(r *request, p *process, force bool, why, when string) error {
	h, err := p.Current(r.ctx)
	if err != nil {
		return err
	}
	lost, err := e.save(r.ctx, p, false)
	if err != nil {
		return err
	}
	if len(lost.Learners) > 0 && !force && h.Go.Plugins {
		return errors.New(strings.Join(lost.Learners, "; ") + ". %handover replaces it all the same.")
	}
	_, err = e.renew(r, h, why, when, lost)
	return err
}

// save has a host save the variables: quickly after a cell, in case that the next one ends the
// host.
func (e *notebook) save(ctx context.Context, p *process, quick bool) (lost rt.Lost, err error) {
	dir, err := os.MkdirTemp(e.dir, "saved")
	if err != nil {
		return lost, err
	}
	r := rt.Saving{Dir: dir, Quick: quick}
	gone := p.Lost()
	for _, v := range p.Names("var") {
		if !slices.Contains(gone, v.Name) {
			r.Names = append(r.Names, v.Name)
		}
	}
	old := e.past.saved
	if err = p.call(ctx, "Save", r, &lost); err == nil {
		e.past.saved, e.past.after = r.Dir, ""
	} else {
		old = r.Dir
	}
	os.RemoveAll(old)
	return lost, err
}

// autosave saves what a new host could begin with, at most for half of the time.
func (e *notebook) autosave(p *process, after string) {
	begin := time.Now()
	if begin.Before(e.past.due) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := e.save(ctx, p, true); err == nil { // else what was saved before stays
		e.past.after = ", as after " + after
	}
	e.past.due = time.Now().Add(time.Since(begin))
}

// renew starts a host in place of the one there is, where there are no plugins with one more cell,
// which it is to run. It tells it what cells have declared and saved. It says why and what came
// along or, if it has no reason, only what did not: when is said to those who read that later.
func (e *notebook) renew(r *request, h *build.Host, why, when string, lost rt.Lost, run ...int) (*process, error) {
	cells, ctx, text := e.process.Load().Cells, context.WithoutCancel(r.ctx), ""
	if h != cells.Host { // for which cells were not compiled
		cells = h.Cells(e.dir)
		for _, s := range e.past.sources {
			c, err := cells.Compile(ctx, s)
			if err != nil {
				text += fmt.Sprintf(" %s no longer builds (%s).", s.File, printable.Line(err.Error()))
				continue
			}
			cells.Commit(c)
		}
		cells.Inherit(e.process.Load().Notebook)
	}
	p, err := e.start(ctx, cells, run...)
	if err != nil {
		return nil, err
	}
	old := e.process.Load()
	old.end()
	<-old.life.Done()
	e.page.forget() // before pages can speak to the new one
	e.process.Store(p)
	if err := p.declareAgain(ctx); err != nil {
		text += " What cells have declared is gone: " + printable.Line(err.Error()) + "."
	}
	var restored rt.Restored
	if e.past.saved != "" {
		if err := p.call(ctx, "Restore", e.past.saved, &restored); err != nil {
			restored.Failed = []string{err.Error()}
		}
	}
	gone := p.Lose("when the process of the cells ended "+when, append(restored.Zero, restored.Names...)...)
	if text += rt.Sentence("Not restored", restored.Failed); why != "" {
		text = "The cells have a new process: " + why + "." + text + rt.Sentence("Restored"+e.past.after, restored.Names)
	}
	if text += rt.Sentence("These did not come along", reasons(gone, lost.Learners)); len(gone) > 0 {
		text += " Cells that read one of them are refused until it has a value again."
	}
	if text != "" {
		r.stream("stderr", strings.TrimSpace(text)+"\n")
	}
	return p, nil
}

// reasons puts the reasons in place of names that have one.
func reasons(names, reasons []string) (list []string) {
	for _, name := range names {
		i := slices.IndexFunc(reasons, func(text string) bool { return strings.HasPrefix(text, name+": ") })
		if i >= 0 {
			name = reasons[i]
		}
		list = append(list, name)
	}
	return list
}

// found notes what has a value again after a cell that has run, perhaps with an error.
func (p *process) found(c *cell.Cell, err error) {
	gone, set := p.Lost(), []string{}
	if len(gone) == 0 {
		return
	}
	p.call(context.Background(), "Set", gone, &set) // none, if the process has ended
	if err == nil {
		set = append(set, c.Gives...)
	}
	p.Found(set...)
}

// declareAgain has a new host declare and register what cells have.
func (p *process) declareAgain(ctx context.Context) (err error) {
	if len(p.IDs) == 0 {
		return nil
	}
	file := ""
	if p.Go.Plugins {
		if file, err = p.load(ctx, "", p.IDs); err != nil {
			return err
		}
		defer os.Remove(file)
	}
	return p.run(ctx, 1<<30, file, "Replay")
}

// memoryVariable is the variable of the environment that says how many megabytes the process of the
// cells may have to itself before a new one takes its place: by default three quarters of the
// machine's memory.
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
